"""Rows as JSON."""

from ..query import fetch
from ..responses import respond

FIRST_USERS = "select id, email from users order by id limit 10"


async def first_users(request):
    users = [dict(row) for row in await fetch(request, FIRST_USERS)]
    return respond(request, json=users)
