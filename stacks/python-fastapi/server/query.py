"""Rows from PostgreSQL."""

import logging

import asyncpg
from fastapi import HTTPException, status

PATIENCE_SECONDS = 10

log = logging.getLogger(__name__)


async def fetch(database: asyncpg.Pool | None, statement: str) -> list[asyncpg.Record]:
    if database is None:
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE, "no DATABASE_URL")
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            return await connection.fetch(statement)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        log.error("cannot read the database: %r", error)
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE) from error
