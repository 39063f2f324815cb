"""Products that are computed, compressed for clients that accept it."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

COUNT = 100
MAX_FROM = 1_000_000
CATEGORIES = ("books", "garden", "kitchen", "music", "tools")


class Product(BaseModel):
    id: int
    name: str
    category: str
    price: int
    stock: int


class CompressedRoute(APIRoute):
    """Compresses this route's answers alone; the middleware of an application does so for all."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await GZipMiddleware(super().handle)(scope, receive, send)


router = APIRouter(route_class=CompressedRoute)


@router.get("/products")
async def list_products(
    first: Annotated[int, Query(alias="from", ge=1, le=MAX_FROM)],
) -> list[Product]:
    return [make_product(first + index) for index in range(COUNT)]


def make_product(product_id: int) -> Product:
    return Product(
        id=product_id,
        name=f"Product {product_id}",
        category=CATEGORIES[product_id % len(CATEGORIES)],
        price=product_id * 37 % 10_007,
        stock=product_id * 31 % 101,
    )
