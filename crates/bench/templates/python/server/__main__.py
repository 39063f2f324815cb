"""Starts the server that the contract asks for: HOST, PORT, and the end at SIGTERM."""

import os
import signal
from http.server import ThreadingHTTPServer

from .routes import Handler


class Server(ThreadingHTTPServer):
    request_queue_size = 1024  # the default backlog of 5 is too short for 100 clients at once
    daemon_threads = True


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    Server((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()


main()
