"""Starts the server: a process for each CPU."""

from .application import Server
from .routes import add_routes
from .settings import Settings


def main() -> None:
    settings = Settings.from_env()
    server = Server(settings)
    add_routes(server)
    server.run(settings.host, settings.port, worker_num=settings.workers)


main()
