"""One mebibyte, written directly or handed over by a worker."""

from fastapi import APIRouter, Response

from ..payload_worker import PAYLOAD
from ..resources import Payloads

OCTETS = "application/octet-stream"

router = APIRouter()


@router.get("/payload")
async def direct() -> Response:
    return Response(PAYLOAD, media_type=OCTETS)


@router.get("/ping-pong")
async def handed_over(worker: Payloads) -> Response:
    return Response(await worker.ask(), media_type=OCTETS)
