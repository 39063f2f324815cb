"""The application, made once in each process."""

from jinja2 import Environment, PackageLoader
from litestar import Litestar
from litestar.exceptions import InternalServerException
from litestar.logging import LoggingConfig
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.template import TemplateConfig

from .resources import dependencies, lifespan
from .routes import handlers

logging_config = LoggingConfig(
    root={"level": "WARNING", "handlers": ["queue_listener"]},
    log_exceptions="always",
    # A refused request is not the server's failure. ClientException, of which 415 is one, counts as a 400 here. Litestar
    # raises InternalServerException for a client that has gone before its body was there; handlers raise others.
    disable_stack_trace={400, 404, 405, 413, InternalServerException},
)

templates = Environment(
    loader=PackageLoader("server"),
    autoescape=True,
    auto_reload=False,  # no template changes while the server runs
)

app = Litestar(
    handlers,
    dependencies=dependencies,
    lifespan=[lifespan],
    logging_config=logging_config,
    openapi_config=None,
    template_config=TemplateConfig(
        instance=JinjaTemplateEngine.from_environment(templates)
    ),
)
