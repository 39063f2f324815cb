"""Bodies that are hashed as they come."""

from base64 import b64encode
from hashlib import sha256

from flask import Blueprint, Response, request

MAX_BYTES = 16 * 1024 * 1024
PIECE_BYTES = 64 * 1024

blueprint = Blueprint("uploads", __name__)


@blueprint.post("/upload")
def hash_body() -> Response:
    request.max_content_length = MAX_BYTES
    digest = sha256()
    while piece := request.stream.read(PIECE_BYTES):
        digest.update(piece)
    return Response(b64encode(digest.digest()), mimetype="text/plain")
