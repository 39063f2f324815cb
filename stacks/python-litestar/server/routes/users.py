"""Rows as JSON."""

import asyncpg
from litestar import get
from msgspec import Struct

from ..query import fetch

FIRST_USERS = "select id, email from users order by id limit 10"


class User(Struct):
    id: int
    email: str


@get("/users")
async def first_users(database: asyncpg.Pool) -> list[User]:
    return [User(**row) for row in await fetch(database, FIRST_USERS)]
