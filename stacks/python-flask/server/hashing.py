"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from flask import Blueprint, Response, current_app

from .arguments import read_integer

MAX_ROUNDS = 1_000_000

blueprint = Blueprint("hashing", __name__)


@blueprint.get("/bytes")
def rounds_of_hashing() -> Response:
    rounds = read_integer("rounds", 1, MAX_ROUNDS)
    digest = sha256(Path(current_app.config["BLOB_PATH"]).read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return Response(b64encode(digest), mimetype="text/plain")
