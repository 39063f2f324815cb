"""Rows from PostgreSQL."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from ..models import User


@require_safe
async def first_users(_: HttpRequest) -> JsonResponse:
    users = User.objects.order_by("id").values("id", "email")[:10]
    return JsonResponse([user async for user in users], safe=False)
