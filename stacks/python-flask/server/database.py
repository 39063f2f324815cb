"""The connections to PostgreSQL."""

from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

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
