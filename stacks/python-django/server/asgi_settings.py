"""Django's settings over ASGI: the same, with views that an event loop can run."""

from .settings import *  # noqa: F403

ROOT_URLCONF = "server.asgi_urls"
