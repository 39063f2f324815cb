"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from ..arguments import read_integer
from ..responses import respond

MAX_ROUNDS = 1_000_000


def rounds_of_hashing(request):
    rounds = read_integer(request.query.get("rounds", ""), 1, MAX_ROUNDS)
    digest = sha256(Path(request.app.settings.blob_path).read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return respond(request, text=b64encode(digest).decode())
