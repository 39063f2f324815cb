"""A slow upstream, relayed."""

import logging

import urllib3
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

log = logging.getLogger(__name__)

upstream = urllib3.PoolManager(
    maxsize=1024,  # more than there are threads, so that no connection is thrown away
    timeout=urllib3.Timeout(connect=2, read=10),
    retries=False,
)


@require_safe
def relay(_: HttpRequest) -> HttpResponse:
    if not settings.UPSTREAM_URL:
        return JsonResponse({"detail": "no UPSTREAM_URL"}, status=502)
    try:
        answer = upstream.request("GET", settings.UPSTREAM_URL)
    except urllib3.exceptions.HTTPError as error:
        log.error("the upstream failed: %s", error)
        return JsonResponse({"detail": "the upstream failed"}, status=502)
    if not 200 <= answer.status < 300:
        log.error("the upstream answered %s", answer.status)
        return JsonResponse(
            {"detail": f"the upstream answered {answer.status}"}, status=502
        )
    return HttpResponse(answer.data, content_type=answer.headers.get("content-type"))
