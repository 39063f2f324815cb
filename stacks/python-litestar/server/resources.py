"""What lives as long as the process and is shared by its requests."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp
import asyncpg
from litestar import Litestar
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import ServiceUnavailableException

from .payload_worker import PayloadWorker
from .settings import Settings, get_settings

KEPT_FOR_SECONDS = 30
UPSTREAM_PATIENCE_SECONDS = 10
QUERY_PATIENCE_SECONDS = 5


@asynccontextmanager
async def lifespan(app: Litestar) -> AsyncIterator[None]:
    settings = get_settings()
    async with AsyncExitStack() as stack:
        app.state.database = None
        if settings.database_url:
            app.state.database = await stack.enter_async_context(open_pool(settings))
        app.state.upstream = await stack.enter_async_context(open_client())
        app.state.payload_worker = await stack.enter_async_context(PayloadWorker())
        yield


def open_pool(settings: Settings) -> asyncpg.Pool:
    """A pool that connects when it is asked, so that a server starts before its database."""
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
    """No request changes its session, so there is nothing to reset before the next one."""


def open_client() -> aiohttp.ClientSession:
    """A client with as many upstream connections as there are requests under way."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_FOR_SECONDS),
        timeout=aiohttp.ClientTimeout(total=UPSTREAM_PATIENCE_SECONDS),
    )


async def provide_database(state: State) -> asyncpg.Pool:
    if state.database is None:
        raise ServiceUnavailableException("no DATABASE_URL")
    return state.database


async def provide_upstream(state: State) -> aiohttp.ClientSession:
    return state.upstream


async def provide_payload_worker(state: State) -> PayloadWorker:
    return state.payload_worker


dependencies = {
    "database": Provide(provide_database),
    "upstream": Provide(provide_upstream),
    "payload_worker": Provide(provide_payload_worker),
}
