"""One mebibyte, written directly or handed over by a worker thread."""

from concurrent.futures import ThreadPoolExecutor

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

PAYLOAD = b"d" * (1 << 20)
OCTETS = "application/octet-stream"

# One thread, which takes its work from a queue. The first request starts it.
worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="payload-worker")


@require_safe
def direct(_: HttpRequest) -> HttpResponse:
    return HttpResponse(PAYLOAD, content_type=OCTETS)


@require_safe
def handed_over(_: HttpRequest) -> HttpResponse:
    payload = worker.submit(lambda: PAYLOAD).result()
    return HttpResponse(payload, content_type=OCTETS)
