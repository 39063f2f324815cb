"""Rows as JSON."""

from fastapi import APIRouter
from pydantic import BaseModel

from ..query import fetch
from ..resources import Database

FIRST_USERS = "select id, email from users order by id limit 10"

router = APIRouter()


class User(BaseModel):
    id: int
    email: str


@router.get("/users")
async def first_users(database: Database) -> list[User]:
    return [User(**row) for row in await fetch(database, FIRST_USERS)]
