"""A stack for the tests of Deadheat: answers /plaintext over HTTP/1.1 with keep-alive, with one fault on request.

FAULT   what goes wrong; every fault is handled below under its name
EVENTS  a file that takes a line for what happens: "<event> <pid>"
THIEF   a Unix socket of the test, which takes the port that it is told, as another program could
"""

import os
import select
import signal
import socket
import sys
import time

RIGHT = b"Hello, World!"
# As long as the right answer, so that only a look at the content tells them apart.
WRONG = b"Howdy, World?"
# More requests than the probes make, reached in the first moments of a load.
LOADED = 50

fault = os.environ.get("FAULT", "none")


def event(what):
    if "EVENTS" in os.environ:
        # One short write to a file opened for appending: lines of several processes do not mix.
        with open(os.environ["EVENTS"], "ab", buffering=0) as file:
            file.write(f"{what} {os.getpid()}\n".encode())


def say(text):
    print(f"fake: {text}", file=sys.stderr, flush=True)


class Server:
    def __init__(self, listener):
        self.listener = listener
        self.answered = 0
        self.loaded_at = None
        self.versions = set()

    def run(self):
        """One thread and no queue: all connections are served alike."""
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        connections = {}
        while True:
            # Not for ever: a signal between Python's own check and the wait would not be handled before the next event.
            for number, _ in poll.poll(0.2):
                if number == self.listener.fileno():
                    connection, _ = self.listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    poll.register(connection, select.EPOLLIN)
                    connections[connection.fileno()] = Connection(connection)
                elif not connections[number].converse(self):
                    poll.unregister(number)
                    connections.pop(number).socket.close()

    def answer(self, path, own):
        """The answer to a connection's request number `own`."""
        if path != b"/plaintext":
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        self.count()
        body = WRONG if self.is_wrong(own) else RIGHT
        kind = b"text/html" if fault == "wrong-type" else b"text/plain"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
        return head % (kind, len(body)) + body

    def note_version(self, version):
        if version not in self.versions:
            self.versions.add(version)
            event(version.decode())

    def count(self):
        self.answered += 1
        if self.answered == 1:
            event("answered")
        if self.answered == LOADED:
            self.loaded_at = time.monotonic()
            event("loaded")
            if fault == "right-then-wrong":
                say("answers wrongly from now on")
            if fault == "dies-under-load":
                say("out of paper")
                os._exit(9)

    def is_wrong(self, own):
        if fault == "right-then-wrong":
            return self.answered > LOADED
        if fault == "right-until-after":
            # The load's connections are busy; the one of the probes has had a handful of requests.
            return self.loaded_at is not None and time.monotonic() > self.loaded_at + 0.3 and own < 20
        return fault == "wrong-answer"


class Connection:
    def __init__(self, own_socket):
        self.socket = own_socket
        self.waiting = b""
        self.requests = 0

    def converse(self, server):
        """Answers what has come; whether the connection goes on."""
        try:
            more = self.socket.recv(65536)
            self.waiting += more
            while b"\r\n\r\n" in self.waiting:
                head, self.waiting = self.waiting.split(b"\r\n\r\n", 1)
                self.requests += 1
                server.note_version(head.split(b"\r\n")[0].split(b" ")[-1])
                self.socket.sendall(server.answer(head.split(b" ")[1], self.requests))
        except OSError:
            return False
        return bool(more)


def have_a_grandchild(on_sigterm):
    """A process with another parent, group and session than this one."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, on_sigterm)
            event("grandchild")
            time.sleep(600)
        os._exit(0)
    os.wait()


def tell_the_thief(port):
    with socket.socket(socket.AF_UNIX) as thief:
        thief.connect(os.environ["THIEF"])
        thief.sendall(f"{port}\n".encode())
        # One byte: the port is taken (or the thief has had enough).
        thief.recv(1)


def on_sigterm(*_):
    event("sigterm")
    if fault == "has-a-grandchild":
        # Long enough for Deadheat to be killed meanwhile.
        time.sleep(0.2)
    if fault != "ignores-sigterm":
        os._exit(0)


def main():
    event("started")
    signal.signal(signal.SIGTERM, on_sigterm)
    address = (os.environ["HOST"], int(os.environ["PORT"]))
    if fault == "exits-at-once":
        say("the ink is dry")
        sys.exit(7)
    if fault == "never-listens":
        say("waits for a train that never comes")
        while True:
            time.sleep(600)
    if fault == "slow-start":
        time.sleep(1)
    if fault == "has-a-grandchild":
        have_a_grandchild(signal.SIG_DFL)
    if fault == "leaves-a-grandchild":
        have_a_grandchild(signal.SIG_IGN)
    if fault in ("port-taken", "another-answers"):
        tell_the_thief(address[1])
    if fault == "another-answers":
        while True:
            time.sleep(600)
    try:
        listener = socket.create_server(address, backlog=1024)
    except OSError as error:
        say(f"listening on {address[0]}:{address[1]}: {error.strerror}")
        sys.exit(1)
    Server(listener).run()


main()
