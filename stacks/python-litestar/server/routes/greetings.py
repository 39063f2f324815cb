"""Plain text and JSON."""

from litestar import MediaType, Request, Response, get, post
from litestar.exceptions import ClientException
from litestar.exceptions.responses import create_exception_response
from litestar.status_codes import HTTP_200_OK, HTTP_415_UNSUPPORTED_MEDIA_TYPE
from msgspec import Struct


class Person(Struct):
    name: str
    username: str


@get("/plaintext", media_type=MediaType.TEXT)
async def plaintext() -> str:
    return "Hello, World!"


@get("/json")
async def people() -> list[Person]:
    return [Person(name="John", username="Doe")]


async def refuse_all_but_json(request: Request) -> None:
    """Litestar would read the body as JSON whatever its content type is."""
    media_type, _ = request.content_type
    if media_type.lower() != MediaType.JSON:
        raise ClientException(
            "the body must be JSON", status_code=HTTP_415_UNSUPPORTED_MEDIA_TYPE
        )


def refuse_malformed_text(request: Request, _: Exception) -> Response:
    """Two errors of the JSON decoder that Litestar would answer with 500."""
    return create_exception_response(request, ClientException("JSON is malformed"))


@post(
    "/json",
    before_request=refuse_all_but_json,
    exception_handlers={
        UnicodeDecodeError: refuse_malformed_text,
        RecursionError: refuse_malformed_text,
    },
    media_type=MediaType.TEXT,
    status_code=HTTP_200_OK,
)
async def greet(data: Person) -> str:
    return f"Hello, {data.name}!"
