"""Rows from PostgreSQL."""

import logging

import asyncpg
from fastapi import APIRouter, HTTPException, status
from pydantic import BaseModel

from ..resources import Database

FIRST_USERS = "select id, email from users order by id limit 10"
PATIENCE_SECONDS = 10

log = logging.getLogger(__name__)
router = APIRouter()


class User(BaseModel):
    id: int
    email: str


@router.get("/users")
async def first_users(database: Database) -> list[User]:
    if database is None:
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE, "no DATABASE_URL")
    try:
        async with database.acquire(timeout=PATIENCE_SECONDS) as connection:
            rows = await connection.fetch(FIRST_USERS)
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        log.error("cannot read the users: %r", error)
        raise HTTPException(status.HTTP_503_SERVICE_UNAVAILABLE) from error
    return [User(**row) for row in rows]
