"""Sync views in the event loop."""

from collections.abc import Awaitable, Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse


def without_thread(
    view: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], Awaitable[HttpResponse]]:
    """Runs a view that never waits in the event loop. Django would run it in a thread."""

    @wraps(view)
    async def async_view(request: HttpRequest) -> HttpResponse:
        return view(request)

    return async_view
