"""The tests of TechEmpower's Framework Benchmarks."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel

from .. import worlds
from ..resources import Database, Worlds
from ..worlds import World
from .fortunes import all_fortunes
from .greetings import plaintext

MAX_COUNT = 500

router = APIRouter(prefix="/techempower")


class Message(BaseModel):
    message: str


def count_of(text: str) -> int:
    """The number that a request asks for: 1 to 500, and 1 for anything that is no number."""
    try:
        return min(max(int(text), 1), MAX_COUNT)
    except ValueError:
        return 1


def queries_of(queries: Annotated[str, Query()] = "") -> int:
    return count_of(queries)


def cached_of(count: Annotated[str, Query()] = "") -> int:
    return count_of(count)


Queries = Annotated[int, Depends(queries_of)]
Cached = Annotated[int, Depends(cached_of)]

router.get("/plaintext", response_class=PlainTextResponse)(plaintext)
router.get("/fortunes")(all_fortunes)


@router.get("/json")
async def json() -> Message:
    return Message(message="Hello, World!")


@router.get("/db")
async def db(database: Database) -> World:
    (world,) = await worlds.read(database, 1)
    return world


@router.get("/queries")
async def queries(database: Database, count: Queries) -> list[World]:
    return await worlds.read(database, count)


@router.get("/updates")
async def updates(database: Database, count: Queries) -> list[World]:
    return await worlds.update(database, count)


@router.get("/cached-queries")
async def cached_queries(
    database: Database, cache: Worlds, count: Cached
) -> list[World]:
    return await cache.some(database, count)
