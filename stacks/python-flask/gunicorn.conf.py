"""gunicorn in production: a process for each CPU, for the GIL's sake, and threads for the waiting."""

from server.settings import Settings

settings = Settings.from_env()

bind = f"{settings.host}:{settings.port}"
# Every process needs a database connection at least.
workers = min(settings.cpus, settings.pool_size)
worker_class = "gthread"
# A thread waits for each answer of the slow upstream. Fewer threads than clients would bound /proxy, also when all clients
# happen to be connected to one process.
threads = 512
wsgi_app = f"server:create_app(processes={workers})"

keepalive = 75
# gthread keeps idle connections open for 2 s after SIGTERM; this ends that earlier.
graceful_timeout = 1
loglevel = "warning"
control_socket_disable = True
worker_tmp_dir = "/dev/shm"
