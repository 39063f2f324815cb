"""gunicorn in production: one process per CPU, because of the GIL, with threads for requests that wait."""

from server.settings import Settings

settings = Settings.from_env()

bind = f"{settings.host}:{settings.port}"
workers = settings.cpus
worker_class = "gthread"
# A request that waits for the slow upstream holds a thread. With fewer threads than clients, /proxy would be limited by
# the threads. All clients may be connected to one process.
threads = 512
wsgi_app = f"server:create_app(processes={workers})"

keepalive = 75
# gthread keeps idle connections open for 2 s after SIGTERM; this ends that earlier.
graceful_timeout = 1
loglevel = "warning"
control_socket_disable = True
worker_tmp_dir = "/dev/shm"
