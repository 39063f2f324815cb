"""Plain text and JSON."""

import json

from ..errors import BadRequest


def plaintext(request):
    # Where a simple handler names no type, Japronto keeps the rendered answer; this one is rendered each time.
    return request.Response(text="Hello, World!", mime_type="text/plain")


def people(request):
    return request.Response(json=[{"name": "John", "username": "Doe"}])


def greet(request):
    greeting = f"Hello, {name_in(request.body)}!"
    return request.Response(text=greeting)


def name_in(body: bytes) -> str:
    """The "name" of a JSON object."""
    try:
        name = json.loads(body or b"", parse_constant=refuse)["name"]
        name.encode()  # fails on lone surrogates, which JSON can write and UTF-8 cannot
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadRequest("a JSON object with a name, please") from None
    return name


def refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(constant)
