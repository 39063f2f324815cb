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
            return Response(f"Hello, {name}!", mimetype="text/plain")
        case _:
            raise BadRequest("name and username must be text")


@blueprint.errorhandler(RecursionError)
@blueprint.errorhandler(UnicodeEncodeError)
def refuse(_: Exception) -> Response:
    """JSON can be nested too deeply for Python, and can hold lone surrogates, which UTF-8 cannot encode."""
    return BadRequest().get_response()
