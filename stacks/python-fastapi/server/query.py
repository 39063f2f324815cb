"""Statements for PostgreSQL."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from fastapi import HTTPException, status

PATIENCE_SECONDS = 10

log = logging.getLogger(__name__)


async def fetch(
    database: asyncpg.Pool | None, statement: str, *values: object
) -> list[asyncpg.Record]:
    async with connect(database) as connection:
        return await connection.fetch(statement, *values)


@asynccontextmanager
async def connect(
    database: asyncpg.Pool | None,
) -> AsyncIterator[asyncpg.pool.PoolConnectionProxy]:
    """A connection of the pool. If it fails, the request is answered with 503."""
    if database is None:
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE, "no DATABASE_URL")
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            yield connection
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        log.error("the database failed: %r", error)
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE) from error
