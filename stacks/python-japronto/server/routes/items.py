"""Items that are read, listed, created, replaced and deleted."""

from __future__ import annotations

from ..arguments import read_integer
from ..bodies import read_json
from ..errors import BadRequest, NotFound
from ..query import fetch
from ..responses import respond

ITEM = "select id, name, price from items where id = $1"
PAGE = "select id, name, price from items where id > $1 order by id limit $2"
CREATE = "insert into items (name, price) values ($1, $2) returning id, name, price"
REPLACE = (
    "update items set name = $2, price = $3 where id = $1 returning id, name, price"
)
DELETE = "delete from items where id = $1 returning id"

MAX_ID = 2**31 - 1  # PostgreSQL's integer
MAX_LIMIT = 100
MAX_NAME_LENGTH = 100
MAX_PRICE = 1_000_000


async def list_items(request):
    after = read_integer(request.query.get("after", "0"), 0, MAX_ID)
    limit = read_integer(request.query.get("limit", "20"), 1, MAX_LIMIT)
    items = [dict(row) for row in await fetch(request, PAGE, after, limit)]
    return respond(request, json=items)


async def read_item(request):
    item = only(await fetch(request, ITEM, item_id_in(request)))
    return respond(request, json=item)


async def create_item(request):
    item = only(await fetch(request, CREATE, *read_item_data(request)))
    location = {"Location": f"/items/{item['id']}"}
    return respond(request, code=201, headers=location, json=item)


async def replace_item(request):
    item_id = item_id_in(request)
    item = only(await fetch(request, REPLACE, item_id, *read_item_data(request)))
    return respond(request, json=item)


async def delete_item(request):
    only(await fetch(request, DELETE, item_id_in(request)))
    return respond(request, code=204)


def item_id_in(request) -> int:
    return read_integer(request.match_dict["item_id"], 1, MAX_ID)


def only(rows) -> dict:
    """The row of one item. If there is none, neither is the item."""
    if not rows:
        raise NotFound("no such item")
    return dict(rows[0])


def read_item_data(request) -> tuple:
    """The name and the price that the body says."""
    data = read_json(request)
    if not isinstance(data, dict):
        raise BadRequest("an object, please")
    name, price = data.get("name"), data.get("price")
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise BadRequest(f"a name of 1 to {MAX_NAME_LENGTH} characters, please")
    if not is_storable(name):
        raise BadRequest("a name without NUL and lone surrogates, please")
    # Python's True and False are integers, too.
    if type(price) is not int or not 0 <= price <= MAX_PRICE:
        raise BadRequest(f"a price from 0 to {MAX_PRICE}, please")
    return name, price


def is_storable(text: str) -> bool:
    """JSON can write NUL and lone surrogates, which PostgreSQL's text cannot hold."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
