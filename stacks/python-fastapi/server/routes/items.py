"""Items that are read, listed, created, replaced and deleted."""

from typing import Annotated

import asyncpg
from fastapi import APIRouter, HTTPException, Path, Query, Request, Response, status
from pydantic import BaseModel, Field

from ..query import fetch
from ..resources import Database

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

ItemId = Annotated[int, Path(ge=1, le=MAX_ID)]
After = Annotated[int, Query(ge=0, le=MAX_ID)]
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]

router = APIRouter(prefix="/items")


class ItemData(BaseModel):
    # PostgreSQL's text holds any character but NUL.
    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00]*$")
    price: int = Field(ge=0, le=1_000_000)


class Item(BaseModel):
    id: int
    name: str
    price: int


@router.get("")
async def list_items(
    database: Database, after: After = 0, limit: Limit = DEFAULT_LIMIT
) -> list[Item]:
    return [Item(**row) for row in await fetch(database, PAGE, after, limit)]


@router.get("/{item_id}")
async def read_item(item_id: ItemId, database: Database) -> Item:
    return Item(**only(await fetch(database, ITEM, item_id)))


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_item(
    data: ItemData, database: Database, request: Request, response: Response
) -> Item:
    item = Item(**only(await fetch(database, CREATE, data.name, data.price)))
    response.headers["Location"] = str(request.url_for("read_item", item_id=item.id))
    return item


@router.put("/{item_id}")
async def replace_item(item_id: ItemId, data: ItemData, database: Database) -> Item:
    rows = await fetch(database, REPLACE, item_id, data.name, data.price)
    return Item(**only(rows))


@router.delete("/{item_id}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_item(item_id: ItemId, database: Database) -> None:
    only(await fetch(database, DELETE, item_id))


def only(rows: list[asyncpg.Record]) -> asyncpg.Record:
    """The row of one item. If there is none, neither is the item."""
    if not rows:
        raise HTTPException(status.HTTP_404_NOT_FOUND)
    return rows[0]
