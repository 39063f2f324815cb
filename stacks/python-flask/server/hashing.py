"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from flask import Blueprint, Response, current_app, request
from werkzeug.exceptions import BadRequest

MAX_ROUNDS = 1_000_000

blueprint = Blueprint("hashing", __name__)


@blueprint.get("/bytes")
def rounds_of_hashing() -> Response:
    rounds = read_rounds(request.args.get("rounds", ""))
    digest = sha256(Path(current_app.config["BLOB_PATH"]).read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return Response(b64encode(digest), mimetype="text/plain")


def read_rounds(text: str) -> int:
    # int() alone would also read "1_000", " 5" and digits of other scripts.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_ROUNDS))):
        raise BadRequest
    rounds = int(text)
    if not 1 <= rounds <= MAX_ROUNDS:
        raise BadRequest
    return rounds
