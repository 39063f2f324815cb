"""A task that hands over the payload."""

import asyncio

PAYLOAD = b"d" * (1 << 20)


class PayloadWorker:
    """Answers every message with the payload, from a task of its own."""

    def __init__(self, mailbox: asyncio.Queue, task: asyncio.Task) -> None:
        self._mailbox = mailbox
        self._task = task

    @classmethod
    def start(cls) -> "PayloadWorker":
        mailbox: asyncio.Queue = asyncio.Queue()
        return cls(mailbox, asyncio.get_event_loop().create_task(work(mailbox)))

    def stop(self) -> None:
        self._task.cancel()

    async def ask(self) -> bytes:
        reply = asyncio.get_event_loop().create_future()
        self._mailbox.put_nowait(reply)
        return await reply


async def work(mailbox: asyncio.Queue) -> None:
    while True:
        reply = await mailbox.get()
        if not reply.done():  # its request may have been cancelled
            reply.set_result(PAYLOAD)
