"""The connections to PostgreSQL."""

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

PATIENCE_SECONDS = 10


def open_pool(url: str | None, size: int) -> ConnectionPool | None:
    """A pool that connects when it is first asked; None without a database."""
    if not url:
        return None
    pool = ConnectionPool(
        url,
        min_size=0,
        max_size=size,
        timeout=PATIENCE_SECONDS,
        # Without autocommit, reading a row would be a transaction of three statements.
        kwargs={"autocommit": True, "row_factory": dict_row},
        open=False,
    )
    pool.open(wait=False)
    return pool
