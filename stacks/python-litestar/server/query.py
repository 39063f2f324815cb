"""Rows from PostgreSQL."""

import asyncpg
from litestar.exceptions import ServiceUnavailableException

PATIENCE_SECONDS = 10


async def fetch(database: asyncpg.Pool, statement: str) -> list[asyncpg.Record]:
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            return await connection.fetch(statement)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        raise ServiceUnavailableException("cannot read the database") from error
