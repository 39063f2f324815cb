"""Items that are read, listed, created, replaced and deleted."""

from typing import Any

from django.db.models import QuerySet
from django.forms import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views import View

from ..forms import item_in, page_in
from ..models import Item


class Items(View):
    def get(self, request: HttpRequest) -> JsonResponse:
        return JsonResponse(list(page(request)), safe=False)

    def post(self, request: HttpRequest) -> JsonResponse:
        return created(Item.objects.create(**item_in(request.body)))


class OneItem(View):
    def get(self, _: HttpRequest, item_id: int) -> JsonResponse:
        return JsonResponse(get_object_or_404(Item.objects.values(), id=item_id))

    def put(self, request: HttpRequest, item_id: int) -> JsonResponse:
        data = item_in(request.body)
        count = Item.objects.filter(id=item_id).update(**data)
        return replaced(count, item_id, data)

    def delete(self, _: HttpRequest, item_id: int) -> HttpResponse:
        count, _ = Item.objects.filter(id=item_id).delete()
        return deleted(count)


def page(request: HttpRequest) -> QuerySet:
    asked = page_in(request.GET)
    items = Item.objects.filter(id__gt=asked["after"]).order_by("id")
    return items.values()[: asked["limit"]]


def created(item: Item) -> JsonResponse:
    location = reverse("item", args=[item.id])
    return JsonResponse(model_to_dict(item), status=201, headers={"Location": location})


def replaced(count: int, item_id: int, data: dict[str, Any]) -> JsonResponse:
    if not count:
        raise Http404
    return JsonResponse({"id": item_id, **data})


def deleted(count: int) -> HttpResponse:
    if not count:
        raise Http404
    return HttpResponse(status=204)
