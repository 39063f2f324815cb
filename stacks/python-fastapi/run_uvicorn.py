"""uvicorn in production: one process per CPU, on uvloop and httptools."""

import uvicorn

from server.settings import get_settings

# Spawned workers import this module again.
if __name__ == "__main__":
    settings = get_settings()
    uvicorn.run(
        "server.app:app",
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_level="warning",
        backlog=2048,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
