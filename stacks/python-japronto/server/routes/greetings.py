"""Plain text and JSON."""

import json

from ..errors import BadRequest, UnsupportedMediaType
from ..responses import respond


def plaintext(request):
    return respond(request, text="Hello, World!")


def people(request):
    return respond(request, json=[{"name": "John", "username": "Doe"}])


def greet(request):
    if (request.mime_type or "").lower() != "application/json":
        raise UnsupportedMediaType("application/json, please")
    return respond(request, text=f"Hello, {person_in(request.body)['name']}!")


def person_in(body: bytes) -> dict:
    """A JSON object with a name and a username."""
    try:
        person = json.loads(body or b"", parse_constant=refuse)
        for key in ("name", "username"):
            person[key].encode()  # fails on lone surrogates, which JSON can write and UTF-8 cannot
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadRequest("a JSON object with a name and a username, please") from None
    return person


def refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(constant)
