"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from ..errors import BadRequest
from ..responses import respond

MAX_ROUNDS = 1_000_000


def rounds_of_hashing(request):
    rounds = read_rounds(request.query.get("rounds", ""))
    digest = sha256(Path(request.app.settings.blob_path).read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return respond(request, text=b64encode(digest).decode())


def read_rounds(text: str) -> int:
    # int() alone would also read "1_000", " 5" and digits of other scripts.
    if text.isdecimal() and text.isascii() and len(text) <= len(str(MAX_ROUNDS)):
        rounds = int(text)
        if 1 <= rounds <= MAX_ROUNDS:
            return rounds
    raise BadRequest(f"rounds is a number from 1 to {MAX_ROUNDS}")
