"""Plain text and JSON."""

from flask import Blueprint, Response
from werkzeug.exceptions import BadRequest

from .bodies import read_json

blueprint = Blueprint("greetings", __name__)


@blueprint.get("/plaintext")
def plaintext() -> Response:
    return Response("Hello, World!", mimetype="text/plain")


@blueprint.get("/json")
def encode() -> list[dict[str, str]]:
    return [{"name": "John", "username": "Doe"}]


@blueprint.post("/json")
def decode() -> Response:
    match read_json():
        case {"name": str(name), "username": str()}:
            return Response(greeting(name), mimetype="text/plain")
        case _:
            raise BadRequest("name and username must be text")


def greeting(name: str) -> bytes:
    try:
        return f"Hello, {name}!".encode()
    except UnicodeEncodeError as error:
        # JSON can hold lone surrogates, which UTF-8 cannot encode.
        raise BadRequest("the name is not valid Unicode") from error
