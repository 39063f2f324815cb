"""One mebibyte, written directly or handed over by a worker."""

from ..payload_worker import PAYLOAD
from ..responses import respond


def direct(request):
    return respond(request, body=PAYLOAD)


async def handed_over(request):
    return respond(request, body=await request.app.resources.payload_worker.ask())
