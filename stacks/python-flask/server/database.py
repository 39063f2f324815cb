"""The connections to PostgreSQL."""

import psycopg
from flask import current_app
from psycopg.rows import dict_row
from psycopg.types.numeric import Int4Dumper
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
        configure=send_integers_alike,
        open=False,
    )
    pool.open(wait=False)
    return pool


def send_integers_alike(connection: psycopg.Connection) -> None:
    """psycopg sends a small integer as another type than a large one, and prepares a statement for each."""
    connection.adapters.register_dumper(int, Int4Dumper)


def fetch_all(statement: str, *values: object) -> list[dict[str, object]]:
    pool = current_app.extensions["database"]
    if pool is None:
        raise ServiceUnavailable("no DATABASE_URL")
    try:
        with pool.connection() as connection:
            return connection.execute(statement, values).fetchall()
    except (PoolTimeout, psycopg.OperationalError) as error:
        current_app.logger.error("the database failed: %s", error)
        raise ServiceUnavailable from error
