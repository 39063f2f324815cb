"""Bodies that are hashed as they come."""

from base64 import b64encode
from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

PIECE_BYTES = 64 * 1024


@require_POST
def hash_body(request: HttpRequest) -> HttpResponse:
    digest = sha256()
    while piece := request.read(PIECE_BYTES):
        digest.update(piece)
    return HttpResponse(b64encode(digest.digest()), content_type="text/plain")
