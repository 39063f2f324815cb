"""Products that are computed, compressed for clients that accept it."""

from flask import Blueprint, Response, jsonify
from flask_compress import Compress

from .arguments import read_integer

COUNT = 100
MAX_FROM = 1_000_000
CATEGORIES = ("books", "garden", "kitchen", "music", "tools")

blueprint = Blueprint("products", __name__)
compress = Compress()


@blueprint.get("/products")
@compress.compressed()
def list_products() -> Response:
    first = read_integer("from", 1, MAX_FROM)
    return jsonify([make_product(first + index) for index in range(COUNT)])


def make_product(product_id: int) -> dict[str, int | str]:
    return {
        "id": product_id,
        "name": f"Product {product_id}",
        "category": CATEGORIES[product_id % len(CATEGORIES)],
        "price": product_id * 37 % 10_007,
        "stock": product_id * 31 % 101,
    }
