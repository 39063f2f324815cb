"""A slow upstream, relayed."""

import asyncio

import aiohttp

from ..errors import BadGateway
from ..responses import respond


async def relay(request):
    url = request.app.settings.upstream_url
    if not url:
        raise BadGateway("no UPSTREAM_URL")
    try:
        async with request.app.resources.upstream.get(url) as answer:
            answer.raise_for_status()
            body = await answer.read()
    except (aiohttp.ClientError, asyncio.TimeoutError) as error:
        print(f"the upstream failed: {error!r}", flush=True)
        raise BadGateway("the upstream failed") from error
    return respond(request, body=body, mime_type=answer.content_type)
