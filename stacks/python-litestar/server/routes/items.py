"""Items that are read, listed, created, replaced and deleted."""

from typing import Annotated

import asyncpg
from litestar import Controller, Request, Response, delete, get, post, put
from litestar.exceptions import NotFoundException
from litestar.params import Parameter
from msgspec import Meta, Struct

from ..json_bodies import exception_handlers, refuse_all_but_json
from ..query import fetch

ITEM = "select id, name, price from items where id = $1"
PAGE = "select id, name, price from items where id > $1 order by id limit $2"
CREATE = "insert into items (name, price) values ($1, $2) returning id, name, price"
REPLACE = (
    "update items set name = $2, price = $3 where id = $1 returning id, name, price"
)
DELETE = "delete from items where id = $1 returning id"

MAX_ID = 2**31 - 1  # PostgreSQL's integer
MAX_LIMIT = 100
DEFAULT_LIMIT = 20

ItemId = Annotated[int, Parameter(ge=1, le=MAX_ID)]
After = Annotated[int, Parameter(ge=0, le=MAX_ID)]
Limit = Annotated[int, Parameter(ge=1, le=MAX_LIMIT)]


class ItemData(Struct):
    # PostgreSQL's text holds any character but NUL.
    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\A[^\0]*\Z")]
    price: Annotated[int, Meta(ge=0, le=1_000_000)]


class Item(Struct):
    id: int
    name: str
    price: int


class ItemController(Controller):
    path = "/items"
    exception_handlers = exception_handlers

    @get()
    async def list_items(
        self, database: asyncpg.Pool, after: After = 0, limit: Limit = DEFAULT_LIMIT
    ) -> list[Item]:
        return [Item(**row) for row in await fetch(database, PAGE, after, limit)]

    @get("/{item_id:int}", name="item")
    async def read_item(self, item_id: ItemId, database: asyncpg.Pool) -> Item:
        return Item(**only(await fetch(database, ITEM, item_id)))

    @post(before_request=refuse_all_but_json)
    async def create_item(
        self, data: ItemData, database: asyncpg.Pool, request: Request
    ) -> Response[Item]:
        item = Item(**only(await fetch(database, CREATE, data.name, data.price)))
        location = request.app.route_reverse("item", item_id=item.id)
        return Response(item, headers={"Location": location})

    @put("/{item_id:int}", before_request=refuse_all_but_json)
    async def replace_item(
        self, item_id: ItemId, data: ItemData, database: asyncpg.Pool
    ) -> Item:
        rows = await fetch(database, REPLACE, item_id, data.name, data.price)
        return Item(**only(rows))

    @delete("/{item_id:int}")
    async def delete_item(self, item_id: ItemId, database: asyncpg.Pool) -> None:
        only(await fetch(database, DELETE, item_id))


def only(rows: list[asyncpg.Record]) -> asyncpg.Record:
    """The row of one item. If there is none, neither is the item."""
    if not rows:
        raise NotFoundException
    return rows[0]
