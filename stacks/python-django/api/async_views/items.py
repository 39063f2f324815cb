"""Items that are read, listed, created, replaced and deleted."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import aget_object_or_404
from django.views import View

from ..forms import item_in
from ..models import Item
from ..views.items import created, deleted, page, replaced


class Items(View):
    async def get(self, request: HttpRequest) -> JsonResponse:
        return JsonResponse([item async for item in page(request)], safe=False)

    async def post(self, request: HttpRequest) -> JsonResponse:
        return created(await Item.objects.acreate(**item_in(request.body)))


class OneItem(View):
    async def get(self, _: HttpRequest, item_id: int) -> JsonResponse:
        item = await aget_object_or_404(Item.objects.values(), id=item_id)
        return JsonResponse(item)

    async def put(self, request: HttpRequest, item_id: int) -> JsonResponse:
        data = item_in(request.body)
        count = await Item.objects.filter(id=item_id).aupdate(**data)
        return replaced(count, item_id, data)

    async def delete(self, _: HttpRequest, item_id: int) -> HttpResponse:
        count, _ = await Item.objects.filter(id=item_id).adelete()
        return deleted(count)
