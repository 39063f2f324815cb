"""A slow upstream, relayed."""

import aiohttp
from litestar import Response, get
from litestar.exceptions import HTTPException
from litestar.status_codes import HTTP_502_BAD_GATEWAY

from ..settings import get_settings


@get("/proxy")
async def relay(upstream: aiohttp.ClientSession) -> Response[bytes]:
    url = get_settings().upstream_url
    if not url:
        raise HTTPException("no UPSTREAM_URL", status_code=HTTP_502_BAD_GATEWAY)
    try:
        async with upstream.get(url, raise_for_status=True) as answer:
            return Response(await answer.read(), media_type=answer.content_type)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise HTTPException(
            "the upstream failed", status_code=HTTP_502_BAD_GATEWAY
        ) from error
