"""Statements for PostgreSQL."""

from __future__ import annotations

import asyncio

import asyncpg

from .errors import ServiceUnavailable


async def fetch(request, statement: str, *values) -> list[asyncpg.Record]:
    database = request.app.resources.database
    if database is None:
        raise ServiceUnavailable("no DATABASE_URL")
    try:
        return await database.fetch(statement, *values)
    except (asyncpg.PostgresError, OSError, asyncio.TimeoutError) as error:
        print(f"the database failed: {error!r}", flush=True)
        raise ServiceUnavailable("the database failed") from error
