"""The routes, on Python's own http.server until {{framework}} takes its place."""

import socket
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler

TEXT = "text/plain; charset=utf-8"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive
    wbufsize = -1  # head and body in one write

    ROUTES = {
        "/plaintext": {"GET": lambda self: self.answer(HTTPStatus.OK, b"Hello, World!")},
    }

    def setup(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().setup()

    def dispatch(self):
        route = self.ROUTES.get(self.path.split("?")[0])
        # What was not read would be taken for the next request.
        self.close_connection |= "Content-Length" in self.headers or "Transfer-Encoding" in self.headers
        if route is None:
            self.answer(HTTPStatus.NOT_FOUND, b"not found")
        elif self.command not in route:
            self.answer(HTTPStatus.METHOD_NOT_ALLOWED, b"method not allowed", Allow=", ".join(route))
        else:
            route[self.command](self)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = dispatch

    def answer(self, status, body, content_type=TEXT, **headers):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass  # the contract: log no request
