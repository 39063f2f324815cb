"""Plain text and JSON."""

from litestar import MediaType, get, post
from litestar.status_codes import HTTP_200_OK
from msgspec import Struct

from ..json_bodies import exception_handlers, refuse_all_but_json


class Person(Struct):
    name: str
    username: str


@get("/plaintext", media_type=MediaType.TEXT)
async def plaintext() -> str:
    return "Hello, World!"


@get("/json")
async def people() -> list[Person]:
    return [Person(name="John", username="Doe")]


@post(
    "/json",
    before_request=refuse_all_but_json,
    exception_handlers=exception_handlers,
    media_type=MediaType.TEXT,
    status_code=HTTP_200_OK,
)
async def greet(data: Person) -> str:
    return f"Hello, {data.name}!"
