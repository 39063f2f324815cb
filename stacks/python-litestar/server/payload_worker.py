"""A task that hands over the payload."""

import asyncio
from contextlib import suppress
from typing import Self

PAYLOAD = b"d" * (1 << 20)


class PayloadWorker:
    """Answers every message with the payload, from a task of its own."""

    def __init__(self) -> None:
        self._mailbox: asyncio.Queue[asyncio.Future[bytes]] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._work(), name="payload-worker")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def ask(self) -> bytes:
        reply = asyncio.get_running_loop().create_future()
        self._mailbox.put_nowait(reply)
        return await reply

    async def _work(self) -> None:
        while True:
            reply = await self._mailbox.get()
            if not reply.done():  # its request may have been cancelled
                reply.set_result(PAYLOAD)
