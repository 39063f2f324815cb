"""Plain text and JSON."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import View
from django.views.decorators.http import require_safe

from ..json_bodies import is_unicode, json_in


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
    match json_in(body):
        case {"name": str(name), "username": str()} if is_unicode(name):
            return name
    raise BadRequest("no person")
