"""The application, made once in each process."""

from litestar import Litestar
from litestar.logging import LoggingConfig

from .resources import dependencies, lifespan
from .routes import handlers

logging_config = LoggingConfig(
    root={"level": "WARNING", "handlers": ["queue_listener"]},
    log_exceptions="always",
    # A refused request is not the server's failure. ClientException, of which 415 is one, counts as a 400 here.
    disable_stack_trace={400, 404, 405, 413},
)

app = Litestar(
    handlers,
    dependencies=dependencies,
    lifespan=[lifespan],
    logging_config=logging_config,
    openapi_config=None,
)
