"""uvicorn in production: a process for each CPU, on uvloop and httptools."""

import uvicorn

from server import environment

# Spawned workers import this module again.
if __name__ == "__main__":
    uvicorn.run(
        "server.asgi:application",
        host=environment.HOST,
        port=environment.PORT,
        workers=environment.WORKERS,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",  # Django does not take part in it
        access_log=False,
        log_level="warning",
        backlog=2048,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
