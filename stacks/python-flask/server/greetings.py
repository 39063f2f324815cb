"""Plain text and JSON."""

import json

from flask import Blueprint, Response, request
from werkzeug.exceptions import BadRequest

blueprint = Blueprint("greetings", __name__)


@blueprint.get("/plaintext")
def plaintext() -> Response:
    return Response("Hello, World!", mimetype="text/plain")


@blueprint.get("/json")
def encode() -> list[dict[str, str]]:
    return [{"name": "John", "username": "Doe"}]


@blueprint.post("/json")
def decode() -> Response:
    return Response(
        f"Hello, {name_in(request.get_data())}!".encode(), mimetype="text/plain"
    )


def name_in(body: bytes) -> str:
    """The "name" of a JSON object; whatever else comes is a bad request, whichever content type it has."""
    try:
        name = json.loads(body, parse_constant=refuse)["name"]
        name.encode()  # fails on lone surrogates, which JSON can write and UTF-8 cannot
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadRequest from None
    return name


def refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(constant)
