"""What lives as long as a worker process and is shared by its requests."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp

from .database import PerRequest, Pooled, open_database
from .payload_worker import PayloadWorker
from .settings import Settings

KEPT_FOR_SECONDS = 30
UPSTREAM_PATIENCE_SECONDS = 10


@dataclass(frozen=True)
class Resources:
    database: Pooled | PerRequest | None
    upstream: aiohttp.ClientSession
    payload_worker: PayloadWorker

    @classmethod
    async def open(cls, settings: Settings) -> Resources:
        return cls(
            database=await open_database(settings),
            upstream=open_client(),
            payload_worker=PayloadWorker.start(),
        )

    async def close(self) -> None:
        self.payload_worker.stop()
        await self.upstream.close()
        if self.database is not None:
            self.database.terminate()


def open_client() -> aiohttp.ClientSession:
    """A client with as many upstream connections as there are requests under way."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_FOR_SECONDS),
        timeout=aiohttp.ClientTimeout(total=UPSTREAM_PATIENCE_SECONDS),
    )
