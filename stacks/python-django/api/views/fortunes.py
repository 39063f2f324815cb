"""A page of HTML with rows from PostgreSQL."""

from operator import attrgetter

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ..models import Fortune


@require_safe
def all_fortunes(request: HttpRequest) -> HttpResponse:
    return page(request, list(Fortune.objects.all()))


def page(request: HttpRequest, fortunes: list[Fortune]) -> HttpResponse:
    added = Fortune(id=0, message="Additional fortune added at request time.")
    fortunes = sorted([*fortunes, added], key=attrgetter("message"))
    return render(request, "api/fortunes.html", {"fortunes": fortunes})
