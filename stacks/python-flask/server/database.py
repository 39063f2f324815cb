"""The connections to PostgreSQL."""

import psycopg
from flask import current_app
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool, PoolTimeout
from werkzeug.exceptions import ServiceUnavailable

PATIENCE_SECONDS = 10


def open_pool(url: str | None, size: int) -> ConnectionPool | None:
    """A pool that connects on first use; None without a database."""
    if not url:
        return None
    pool = ConnectionPool(
        url,
        min_size=0,
        max_size=size,
        timeout=PATIENCE_SECONDS,
        kwargs={
            "autocommit": True,  # a single statement needs no BEGIN and COMMIT
            "prepare_threshold": 0,  # prepare at the first execution, not the sixth
            "row_factory": dict_row,
        },
        open=False,
    )
    pool.open(wait=False)
    return pool


def fetch_all(statement: str) -> list[dict[str, object]]:
    pool = current_app.extensions["database"]
    if pool is None:
        raise ServiceUnavailable("no DATABASE_URL")
    try:
        with pool.connection() as connection:
            return connection.execute(statement).fetchall()
    except (PoolTimeout, psycopg.OperationalError) as error:
        current_app.logger.error("cannot read the database: %s", error)
        raise ServiceUnavailable from error
