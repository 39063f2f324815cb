"""Plain text and JSON."""

import json

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import View
from django.views.decorators.http import require_safe


@require_safe
def plaintext(_: HttpRequest) -> HttpResponse:
    return HttpResponse("Hello, World!", content_type="text/plain")


class People(View):
    def get(self, _: HttpRequest) -> JsonResponse:
        people = [{"name": "John", "username": "Doe"}]
        return JsonResponse(people, safe=False)

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.content_type != "application/json":
            return JsonResponse({"detail": "the body must be JSON"}, status=415)
        greeting = f"Hello, {name_in(request.body)}!"
        return HttpResponse(greeting, content_type="text/plain")


def name_in(body: bytes) -> str:
    """The name of a person. Whatever else comes is a bad request."""
    try:
        match json.loads(body, parse_constant=refuse):
            case {"name": str(name), "username": str()}:
                name.encode()  # fails on lone surrogates, which JSON can write and UTF-8 cannot
                return name
    except (ValueError, RecursionError) as error:
        raise BadRequest("no JSON") from error
    raise BadRequest("no person")


def refuse(constant: str) -> None:
    """NaN and Infinity, which Python reads, are no JSON."""
    raise ValueError(constant)
