"""Products that are computed, compressed for clients that accept it."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, JsonResponse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from .hashing import integer_in

COUNT = 100
MAX_FROM = 1_000_000
CATEGORIES = ("books", "garden", "kitchen", "music", "tools")


@require_safe
@gzip_page
def list_products(request: HttpRequest) -> JsonResponse:
    first = integer_in(request.GET.get("from", ""), MAX_FROM)
    if first is None:
        raise BadRequest(f"from must be a number from 1 to {MAX_FROM}")
    products = [make_product(first + index) for index in range(COUNT)]
    return JsonResponse(products, safe=False)


def make_product(product_id: int) -> dict[str, int | str]:
    return {
        "id": product_id,
        "name": f"Product {product_id}",
        "category": CATEGORIES[product_id % len(CATEGORIES)],
        "price": product_id * 37 % 10_007,
        "stock": product_id * 31 % 101,
    }
