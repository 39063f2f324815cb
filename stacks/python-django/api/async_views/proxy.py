"""A slow upstream, relayed."""

import logging
from functools import cache

import aiohttp
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

KEPT_FOR_SECONDS = 30
PATIENCE_SECONDS = 10

log = logging.getLogger(__name__)


@cache
def upstream() -> aiohttp.ClientSession:
    """Made by the first request, because Django has no hook for the start of an event loop."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_FOR_SECONDS),
        timeout=aiohttp.ClientTimeout(total=PATIENCE_SECONDS),
    )


@require_safe
async def relay(_: HttpRequest) -> HttpResponse:
    url = settings.UPSTREAM_URL
    if not url:
        return JsonResponse({"detail": "no UPSTREAM_URL"}, status=502)
    try:
        async with upstream().get(url, raise_for_status=True) as answer:
            return HttpResponse(await answer.read(), content_type=answer.content_type)
    except (aiohttp.ClientError, TimeoutError) as error:
        log.error("the upstream failed: %r", error)
        return JsonResponse({"detail": "the upstream failed"}, status=502)
