"""Errors as an API answers them. Django's own are HTML pages."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse


def bad_request(_: HttpRequest, exception: Exception) -> JsonResponse:
    # Other exceptions that Django answers with 400 name settings, for example ALLOWED_HOSTS.
    detail = str(exception) if isinstance(exception, BadRequest) else "bad request"
    return JsonResponse({"detail": detail}, status=400)


def not_found(_: HttpRequest, exception: Exception) -> JsonResponse:
    return JsonResponse({"detail": "not found"}, status=404)


def server_error(_: HttpRequest) -> JsonResponse:
    return JsonResponse({"detail": "internal server error"}, status=500)
