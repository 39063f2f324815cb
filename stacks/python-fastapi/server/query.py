"""Statements for PostgreSQL."""

import logging

import asyncpg
from fastapi import HTTPException, status

PATIENCE_SECONDS = 10

log = logging.getLogger(__name__)


async def fetch(
    database: asyncpg.Pool | None, statement: str, *values: object
) -> list[asyncpg.Record]:
    if database is None:
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE, "no DATABASE_URL")
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            return await connection.fetch(statement, *values)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        log.error("the database failed: %r", error)
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE) from error
