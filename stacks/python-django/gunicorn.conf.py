"""gunicorn in production: a process for each CPU, for the GIL's sake, and threads for the waiting."""

import os

from server import environment

bind = f"{environment.HOST}:{environment.PORT}"
workers = environment.WORKERS
worker_class = "gthread"
# A request that waits for the database or the upstream holds a thread.
threads = int(os.environ.get("THREADS", "16"))
wsgi_app = "server.wsgi:application"

keepalive = 75
# gthread keeps idle connections open for 2 s after SIGTERM; this ends that earlier.
graceful_timeout = 1
loglevel = "warning"
control_socket_disable = True
worker_tmp_dir = "/dev/shm"
