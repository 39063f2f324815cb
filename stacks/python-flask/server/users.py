"""Rows from PostgreSQL."""

from flask import Blueprint

from .database import fetch_all

FIRST_USERS = "select id, email from users order by id limit 10"

blueprint = Blueprint("users", __name__)


@blueprint.get("/users")
def first_users() -> list[dict[str, object]]:
    return fetch_all(FIRST_USERS)
