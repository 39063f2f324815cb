"""Rows from PostgreSQL."""

import psycopg
from flask import Blueprint, current_app
from psycopg_pool import PoolTimeout
from werkzeug.exceptions import ServiceUnavailable

FIRST_USERS = "select id, email from users order by id limit 10"

blueprint = Blueprint("users", __name__)


@blueprint.get("/users")
def first_users() -> list[dict[str, object]]:
    pool = current_app.extensions["database"]
    if pool is None:
        raise ServiceUnavailable("no DATABASE_URL")
    try:
        with pool.connection() as connection:
            return connection.execute(FIRST_USERS).fetchall()
    except (PoolTimeout, psycopg.OperationalError) as error:
        current_app.logger.error("cannot read the users: %s", error)
        raise ServiceUnavailable from error
