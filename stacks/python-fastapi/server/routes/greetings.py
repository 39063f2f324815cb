"""Plain text and JSON."""

from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from pydantic import AfterValidator, BaseModel

router = APIRouter()


def encodable(text: str) -> str:
    """Refuses lone surrogates, which JSON can write and UTF-8 cannot."""
    text.encode()
    return text


class Person(BaseModel):
    name: Annotated[str, AfterValidator(encodable)]
    username: str


@router.get("/plaintext", response_class=PlainTextResponse)
async def plaintext() -> str:
    return "Hello, World!"


@router.get("/json")
async def people() -> list[Person]:
    return [Person(name="John", username="Doe")]


@router.post("/json", response_class=PlainTextResponse)
async def greet(person: Person) -> str:
    return f"Hello, {person.name}!"
