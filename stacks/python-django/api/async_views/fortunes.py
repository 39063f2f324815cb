"""A page of HTML with rows from PostgreSQL."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ..models import Fortune
from ..views.fortunes import page


@require_safe
async def all_fortunes(request: HttpRequest) -> HttpResponse:
    return page(request, [fortune async for fortune in Fortune.objects.all()])
