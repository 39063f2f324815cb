"""Rows as a page of HTML."""

from operator import attrgetter

import asyncpg
from litestar import get
from litestar.response import Template
from msgspec import Struct

from ..query import fetch

FORTUNES = "select id, message from fortune"


class Fortune(Struct):
    id: int
    message: str


@get("/fortunes")
async def all_fortunes(database: asyncpg.Pool) -> Template:
    fortunes = [Fortune(**row) for row in await fetch(database, FORTUNES)]
    fortunes.append(Fortune(id=0, message="Additional fortune added at request time."))
    fortunes.sort(key=attrgetter("message"))
    return Template("fortunes.html", context={"fortunes": fortunes})
