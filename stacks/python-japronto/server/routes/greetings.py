"""Plain text and JSON."""

from ..bodies import read_json
from ..errors import BadRequest
from ..responses import respond


def plaintext(request):
    return respond(request, text="Hello, World!")


def people(request):
    return respond(request, json=[{"name": "John", "username": "Doe"}])


def greet(request):
    return respond(request, text=f"Hello, {person_in(request)['name']}!")


def person_in(request) -> dict:
    """A JSON object with a name and a username."""
    person = read_json(request)
    try:
        for key in ("name", "username"):
            # Fails on lone surrogates, which JSON can write and UTF-8 cannot.
            person[key].encode()
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BadRequest("a JSON object with a name and a username, please") from None
    return person
