"""Rows of the table world, from the database and from memory."""

from operator import attrgetter
from random import choices, randint, sample

import asyncpg
from pydantic import BaseModel, Field

from .query import connect, fetch

WORLDS = 10_000

WORLD = "select id, randomnumber from world where id = $1"
ALL_WORLDS = "select id, randomnumber from world"
UPDATE = (
    "update world set randomnumber = new.number "
    "from unnest($1::integer[], $2::integer[]) as new(id, number) where world.id = new.id"
)


class World(BaseModel):
    id: int
    random_number: int = Field(serialization_alias="randomNumber")


class WorldCache:
    """All worlds, from the first time on that they are asked for."""

    def __init__(self) -> None:
        self._worlds: list[World] = []

    async def some(self, database: asyncpg.Pool | None, count: int) -> list[World]:
        if not self._worlds:
            rows = await fetch(database, ALL_WORLDS)
            self._worlds = [make_world(row) for row in rows]
        return choices(self._worlds, k=count)


async def read(database: asyncpg.Pool | None, count: int) -> list[World]:
    """So many worlds at random, each by a statement of its own, over one connection."""
    async with connect(database) as connection:
        return await read_over(connection, count)


async def update(database: asyncpg.Pool | None, count: int) -> list[World]:
    async with connect(database) as connection:
        worlds = await read_over(connection, count)
        # PostgreSQL locks the rows in this order, so that two requests never wait for each other.
        worlds.sort(key=attrgetter("id"))
        for world in worlds:
            world.random_number = randint(1, WORLDS)
        ids = [world.id for world in worlds]
        await connection.execute(
            UPDATE, ids, [world.random_number for world in worlds]
        )
        return worlds


async def read_over(
    connection: asyncpg.pool.PoolConnectionProxy, count: int
) -> list[World]:
    ids = sample(range(1, WORLDS + 1), count)
    return [make_world(await connection.fetchrow(WORLD, world_id)) for world_id in ids]


def make_world(row: asyncpg.Record) -> World:
    return World(id=row["id"], random_number=row["randomnumber"])
