"""A slow upstream, relayed."""

import logging

import aiohttp
from fastapi import APIRouter, HTTPException, Response, status

from ..resources import Upstream
from ..settings import get_settings

log = logging.getLogger(__name__)
router = APIRouter()


@router.get("/proxy")
async def relay(upstream: Upstream) -> Response:
    url = get_settings().upstream_url
    if not url:
        raise HTTPException(status.HTTP_502_BAD_GATEWAY, "no UPSTREAM_URL")
    try:
        async with upstream.get(url, raise_for_status=True) as answer:
            return Response(await answer.read(), media_type=answer.content_type)
    except (aiohttp.ClientError, TimeoutError) as error:
        log.error("the upstream failed: %r", error)
        raise HTTPException(status.HTTP_502_BAD_GATEWAY) from error
