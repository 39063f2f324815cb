"""Products that are computed, compressed for clients that accept it."""

from typing import Annotated

from litestar import get
from litestar.config.compression import CompressionConfig
from litestar.middleware.base import DefineMiddleware
from litestar.middleware.compression import CompressionMiddleware
from litestar.params import Parameter
from msgspec import Struct

COUNT = 100
MAX_FROM = 1_000_000
CATEGORIES = ("books", "garden", "kitchen", "music", "tools")

# Of this route alone: an application's compression_config holds for all of them.
compression = DefineMiddleware(
    CompressionMiddleware, config=CompressionConfig(backend="gzip")
)


class Product(Struct):
    id: int
    name: str
    category: str
    price: int
    stock: int


# The middleware says of compressed answers alone that they depend on what the client accepts.
@get(
    "/products",
    middleware=[compression],
    response_headers={"Vary": "Accept-Encoding"},
)
async def list_products(
    first: Annotated[int, Parameter(query="from", ge=1, le=MAX_FROM)],
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
