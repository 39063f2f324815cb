"""Deadheat's benchmark stack on Flask."""

from flask import Flask

from . import (
    database,
    fortunes,
    greetings,
    hashing,
    items,
    payload,
    products,
    proxy,
    uploads,
    users,
)
from .settings import Settings

MAX_BODY_BYTES = 1 << 20


def create_app(processes: int = 1) -> Flask:
    """Makes the application of one process; all processes share POOL_SIZE connections."""
    settings = Settings.from_env()
    app = Flask(
        __name__, static_folder=settings.static_dir, static_url_path="/static"
    )
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    # Only the views that say so are compressed.
    app.config["COMPRESS_REGISTER"] = False
    app.config["BLOB_PATH"] = settings.blob_path
    app.config["UPSTREAM_URL"] = settings.upstream_url
    app.extensions["database"] = database.open_pool(
        settings.database_url, max(1, settings.pool_size // processes)
    )
    app.extensions["upstream"] = proxy.open_client()
    app.extensions["payload_worker"] = payload.Worker()
    products.compress.init_app(app)
    for module in (
        fortunes,
        greetings,
        hashing,
        items,
        payload,
        products,
        proxy,
        uploads,
        users,
    ):
        app.register_blueprint(module.blueprint)
    return app
