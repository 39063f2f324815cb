"""Statements for PostgreSQL."""

import asyncpg
from litestar.exceptions import ServiceUnavailableException

PATIENCE_SECONDS = 10


async def fetch(
    database: asyncpg.Pool, statement: str, *values: object
) -> list[asyncpg.Record]:
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            return await connection.fetch(statement, *values)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        raise ServiceUnavailableException("the database failed") from error
