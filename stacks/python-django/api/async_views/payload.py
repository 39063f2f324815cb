"""One mebibyte, handed over by a task."""

import asyncio
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ..views.payload import OCTETS, PAYLOAD


class Worker:
    """Answers every message with the payload, from a task of its own."""

    def __init__(self) -> None:
        self._mailbox: asyncio.Queue[asyncio.Future[bytes]] = asyncio.Queue()
        self._task = asyncio.create_task(self._work(), name="payload-worker")

    async def ask(self) -> bytes:
        reply = asyncio.get_running_loop().create_future()
        self._mailbox.put_nowait(reply)
        return await reply

    async def _work(self) -> None:
        while True:
            reply = await self._mailbox.get()
            if not reply.done():  # its request may have been cancelled
                reply.set_result(PAYLOAD)


@cache
def worker() -> Worker:
    """Made by the first request, because Django has no hook for the start of an event loop."""
    return Worker()


@require_safe
async def handed_over(_: HttpRequest) -> HttpResponse:
    return HttpResponse(await worker().ask(), content_type=OCTETS)
