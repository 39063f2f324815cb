"""One mebibyte, written directly or handed over by a worker."""

from litestar import get

from ..payload_worker import PAYLOAD, PayloadWorker

OCTETS = "application/octet-stream"


@get("/payload", media_type=OCTETS)
async def direct() -> bytes:
    return PAYLOAD


@get("/ping-pong", media_type=OCTETS)
async def handed_over(payload_worker: PayloadWorker) -> bytes:
    return await payload_worker.ask()
