"""One mebibyte, written directly or handed over by a worker thread."""

from queue import SimpleQueue
from threading import Thread

from flask import Blueprint, Response, current_app

PAYLOAD = b"d" * (1 << 20)

blueprint = Blueprint("payload", __name__)


class Worker:
    """A thread that answers every message with the payload."""

    def __init__(self) -> None:
        self._mailbox: SimpleQueue[SimpleQueue[bytes]] = SimpleQueue()
        Thread(target=self._work, name="payload-worker", daemon=True).start()

    def ask(self) -> bytes:
        reply: SimpleQueue[bytes] = SimpleQueue()
        self._mailbox.put(reply)
        return reply.get()

    def _work(self) -> None:
        while True:
            self._mailbox.get().put(PAYLOAD)


@blueprint.get("/payload")
def direct() -> Response:
    return Response(PAYLOAD, mimetype="application/octet-stream")


@blueprint.get("/ping-pong")
def handed_over() -> Response:
    payload = current_app.extensions["payload_worker"].ask()
    return Response(payload, mimetype="application/octet-stream")
