"""Items that are read, listed, created, replaced and deleted."""

from flask import Blueprint, url_for
from flask.views import MethodView
from werkzeug.exceptions import BadRequest, NotFound

from .arguments import read_integer
from .bodies import read_json
from .database import fetch_all

ITEM = "select id, name, price from items where id = %s"
PAGE = "select id, name, price from items where id > %s order by id limit %s"
CREATE = "insert into items (name, price) values (%s, %s) returning id, name, price"
REPLACE = (
    "update items set name = %s, price = %s where id = %s returning id, name, price"
)
DELETE = "delete from items where id = %s returning id"

MAX_ID = 2**31 - 1  # PostgreSQL's integer
MAX_LIMIT = 100
MAX_NAME_LENGTH = 100
MAX_PRICE = 1_000_000

blueprint = Blueprint("items", __name__)


class Items(MethodView):
    init_every_request = False

    def get(self) -> list[dict[str, object]]:
        after = read_integer("after", 0, MAX_ID, default="0")
        limit = read_integer("limit", 1, MAX_LIMIT, default="20")
        return fetch_all(PAGE, after, limit)

    def post(self) -> tuple[dict[str, object], int, dict[str, str]]:
        item = only(fetch_all(CREATE, *name_and_price()))
        location = url_for("items.one", item_id=item["id"])
        return item, 201, {"Location": location}


class OneItem(MethodView):
    init_every_request = False

    def get(self, item_id: int) -> dict[str, object]:
        return only(fetch_all(ITEM, item_id))

    def put(self, item_id: int) -> dict[str, object]:
        return only(fetch_all(REPLACE, *name_and_price(), item_id))

    def delete(self, item_id: int) -> tuple[str, int]:
        only(fetch_all(DELETE, item_id))
        return "", 204


blueprint.add_url_rule("/items", view_func=Items.as_view("all"))
blueprint.add_url_rule(
    f"/items/<int(min=1, max={MAX_ID}):item_id>", view_func=OneItem.as_view("one")
)


def only(rows: list[dict[str, object]]) -> dict[str, object]:
    """The row of one item. If there is none, neither is the item."""
    if not rows:
        raise NotFound
    return rows[0]


def name_and_price() -> tuple[str, int]:
    """What the body says of an item."""
    match read_json():
        case {"name": str(name), "price": int(price)}:
            if not 1 <= len(name) <= MAX_NAME_LENGTH or not is_storable(name):
                raise BadRequest(f"the name has 1 to {MAX_NAME_LENGTH} characters")
            # Python's True and False are integers, too.
            if isinstance(price, bool) or not 0 <= price <= MAX_PRICE:
                raise BadRequest(f"the price is a number from 0 to {MAX_PRICE}")
            return name, price
        case _:
            raise BadRequest("name must be text, and price a number")


def is_storable(text: str) -> bool:
    """JSON can hold NUL and lone surrogates, which PostgreSQL's text cannot."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
