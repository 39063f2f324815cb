"""Rows from PostgreSQL."""

import asyncpg
from litestar import get
from litestar.exceptions import ServiceUnavailableException
from msgspec import Struct

FIRST_USERS = "select id, email from users order by id limit 10"
PATIENCE_SECONDS = 10


class User(Struct):
    id: int
    email: str


@get("/users")
async def first_users(database: asyncpg.Pool) -> list[User]:
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            rows = await connection.fetch(FIRST_USERS)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        raise ServiceUnavailableException("cannot read the users") from error
    return [User(**row) for row in rows]
