"""Deadheat's benchmark stack on Flask."""

from flask import Flask

from . import database, fortunes, greetings, hashing, items, payload, proxy, users
from .settings import Settings

MAX_BODY_BYTES = 1 << 20


def create_app(processes: int = 1) -> Flask:
    """Makes the application of one process; all processes share POOL_SIZE connections."""
    settings = Settings.from_env()
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["BLOB_PATH"] = settings.blob_path
    app.config["UPSTREAM_URL"] = settings.upstream_url
    app.extensions["database"] = database.open_pool(
        settings.database_url, max(1, settings.pool_size // processes)
    )
    app.extensions["upstream"] = proxy.open_client()
    app.extensions["payload_worker"] = payload.Worker()
    for module in (fortunes, greetings, hashing, items, payload, proxy, users):
        app.register_blueprint(module.blueprint)
    return app
