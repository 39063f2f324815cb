"""Rows from PostgreSQL."""

import asyncio

import asyncpg

from ..errors import ServiceUnavailable
from ..responses import respond

FIRST_USERS = "select id, email from users order by id limit 10"


async def first_users(request):
    database = request.app.resources.database
    if database is None:
        raise ServiceUnavailable("no DATABASE_URL")
    try:
        rows = await database.fetch(FIRST_USERS)
    except (asyncpg.PostgresError, OSError, asyncio.TimeoutError) as error:
        print(f"cannot read the users: {error!r}", flush=True)
        raise ServiceUnavailable("the database failed") from error
    return respond(request, json=[dict(row) for row in rows])
