"""SHA-256 of a file, over and over."""

from base64 import b64encode
from hashlib import sha256

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

MAX_ROUNDS = 1_000_000


@require_safe
def rounds_of_hashing(request: HttpRequest) -> HttpResponse:
    rounds = integer_in(request.GET.get("rounds", ""), MAX_ROUNDS)
    if rounds is None:
        raise BadRequest(f"rounds must be a number from 1 to {MAX_ROUNDS}")
    digest = sha256(settings.BLOB_PATH.read_bytes()).digest()
    for _ in range(rounds - 1):
        digest = sha256(digest).digest()
    return HttpResponse(b64encode(digest), content_type="text/plain")


def integer_in(text: str, most: int) -> int | None:
    """The number in the text, if it is one from 1 to `most`."""
    # int() alone would also read "1_000", " 5" and digits of other scripts.
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)):
        number = int(text)
        if 1 <= number <= most:
            return number
    return None
