"""One mebibyte, written directly or handed over by a worker."""

from ..payload_worker import PAYLOAD


def direct(request):
    return request.Response(body=PAYLOAD)


async def handed_over(request):
    return request.Response(body=await request.app.resources.payload_worker.ask())
