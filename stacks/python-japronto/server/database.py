"""The connections to PostgreSQL, from a pool or made for each request."""

from __future__ import annotations

import asyncpg

from .settings import Settings

PATIENCE_SECONDS = 10
QUERY_PATIENCE_SECONDS = 5
# Connecting takes milliseconds of CPU: a hundred at once take seconds, and a query that is ready waits
# in the same event loop until the others have logged in.
PER_REQUEST_PATIENCE_SECONDS = 30


class Connection(asyncpg.Connection):
    """Keeps its session as it is: no request changes it, and resetting it would be a second statement for each."""

    __slots__ = ()

    async def reset(self, *, timeout=None) -> None:
        pass


class Pooled:
    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def fetch(self, query: str, *values) -> list[asyncpg.Record]:
        async with self._pool.acquire(timeout=PATIENCE_SECONDS) as connection:
            return await connection.fetch(query, *values)

    def terminate(self) -> None:
        self._pool.terminate()


class PerRequest:
    """As the published comparison had it; nobody should."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def fetch(self, query: str, *values) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(
            self._url,
            timeout=PER_REQUEST_PATIENCE_SECONDS,
            command_timeout=PER_REQUEST_PATIENCE_SECONDS,
        )
        try:
            return await connection.fetch(query, *values)
        finally:
            await connection.close()

    def terminate(self) -> None:
        pass


async def open_database(settings: Settings) -> Pooled | PerRequest | None:
    """None without a database; a pool connects when it is asked, so that a server starts before its database."""
    if not settings.database_url:
        return None
    if not settings.pool_size:
        return PerRequest(settings.database_url)
    return Pooled(
        await asyncpg.create_pool(
            settings.database_url,
            min_size=0,
            max_size=settings.pool_size_per_worker,
            connection_class=Connection,
            command_timeout=QUERY_PATIENCE_SECONDS,
            # Prepared statements, and the connections that hold them, are kept for good.
            max_cached_statement_lifetime=0,
            max_inactive_connection_lifetime=0,
        )
    )
