"""gunicorn in production: one process per CPU, because of the GIL, with threads for requests that wait."""

import os

from server.settings import Settings

settings = Settings.from_env()

bind = f"{settings.host}:{settings.port}"
workers = settings.processes
worker_class = "gthread"
# A request that waits for the database or the upstream holds a thread.
threads = int(os.environ.get("THREADS", "16"))
wsgi_app = f"server:create_app(processes={workers})"

keepalive = 75
# gthread keeps idle connections open for 2 s after SIGTERM; this ends that earlier.
graceful_timeout = 1
loglevel = "warning"
control_socket_disable = True
worker_tmp_dir = "/dev/shm"
