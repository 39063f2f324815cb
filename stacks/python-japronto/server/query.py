"""Rows from PostgreSQL."""

from __future__ import annotations

import asyncio

import asyncpg

from .errors import ServiceUnavailable


async def fetch(request, statement: str) -> list[asyncpg.Record]:
    database = request.app.resources.database
    if database is None:
        raise ServiceUnavailable("no DATABASE_URL")
    try:
        return await database.fetch(statement)
    except (asyncpg.PostgresError, OSError, asyncio.TimeoutError) as error:
        print(f"cannot read the database: {error!r}", flush=True)
        raise ServiceUnavailable("the database failed") from error
