"""Plain text and JSON."""

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
    match request.get_json():
        case {"name": str(name), "username": str()}:
            return Response(greeting_for(name), mimetype="text/plain")
        case _:
            raise BadRequest("name and username must be text")


def greeting_for(name: str) -> bytes:
    try:
        return f"Hello, {name}!".encode()
    except UnicodeEncodeError as error:
        raise BadRequest("the name has a lone surrogate") from error
