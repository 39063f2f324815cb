"""Granian in production: one process per CPU, on uvloop."""

from granian import Granian
from granian.constants import Interfaces, Loops
from granian.log import LogLevels

from server.settings import get_settings

# Spawned workers import this module again.
if __name__ == "__main__":
    settings = get_settings()
    Granian(
        "server.app:app",
        address=settings.host,
        port=settings.port,
        interface=Interfaces.ASGI,
        workers=settings.workers,
        loop=Loops.uvloop,
        websockets=False,
        log_access=False,
        log_level=LogLevels.warning,
        backlog=2048,
        # The number of requests that each process works on at once. The default is its share of the backlog.
        backpressure=1024,
        workers_kill_timeout=1,
        respawn_failed_workers=True,
    ).serve()
