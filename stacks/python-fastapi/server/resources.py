"""What lives as long as the process and is shared by its requests."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, TypedDict

import aiohttp
import asyncpg
from fastapi import Depends, FastAPI, Request

from .payload_worker import PayloadWorker
from .settings import Settings, get_settings
from .worlds import WorldCache

KEPT_FOR_SECONDS = 30
UPSTREAM_PATIENCE_SECONDS = 10
QUERY_PATIENCE_SECONDS = 5


class Resources(TypedDict):
    worlds: WorldCache
    database: asyncpg.Pool | None
    upstream: aiohttp.ClientSession
    payload_worker: PayloadWorker


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[Resources]:
    settings = get_settings()
    async with AsyncExitStack() as stack:
        database = None
        if settings.database_url:
            database = await stack.enter_async_context(open_pool(settings))
        yield Resources(
            worlds=WorldCache(),
            database=database,
            upstream=await stack.enter_async_context(open_client()),
            payload_worker=await stack.enter_async_context(PayloadWorker()),
        )


def open_pool(settings: Settings) -> asyncpg.Pool:
    """A pool that connects on first use, so that the server starts without a database."""
    return asyncpg.create_pool(
        settings.database_url,
        min_size=0,
        max_size=settings.pool_size_per_worker,
        command_timeout=QUERY_PATIENCE_SECONDS,
        # Prepared statements, and the connections that hold them, are kept for good.
        max_cached_statement_lifetime=0,
        max_inactive_connection_lifetime=0,
        reset=keep_session,
    )


async def keep_session(_: asyncpg.Connection) -> None:
    """Sends nothing. asyncpg's own reset is a second statement, and no route changes the session."""


def open_client() -> aiohttp.ClientSession:
    """A client with as many upstream connections as there are requests under way."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_FOR_SECONDS),
        timeout=aiohttp.ClientTimeout(total=UPSTREAM_PATIENCE_SECONDS),
    )


async def get_database(request: Request) -> asyncpg.Pool | None:
    return request.state.database


async def get_worlds(request: Request) -> WorldCache:
    return request.state.worlds


async def get_upstream(request: Request) -> aiohttp.ClientSession:
    return request.state.upstream


async def get_payload_worker(request: Request) -> PayloadWorker:
    return request.state.payload_worker


Database = Annotated[asyncpg.Pool | None, Depends(get_database)]
Worlds = Annotated[WorldCache, Depends(get_worlds)]
Upstream = Annotated[aiohttp.ClientSession, Depends(get_upstream)]
Payloads = Annotated[PayloadWorker, Depends(get_payload_worker)]
