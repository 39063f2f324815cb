#!/usr/bin/env python3
"""An HTTP/1.1 server whose faults are known, for `cargo xtask evidence`: one process, one thread, the same answer to every
request. It listens at HOST and PORT. If COUNTERS names a file of 16 bytes, it counts there, as two doubles, the seconds that
it served without its pauses, and its answers."""

import argparse
import mmap
import os
import random
import selectors
import socket
import struct
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nprobe"
END_OF_HEAD = b"\r\n\r\n"


def options():
    parser = argparse.ArgumentParser(description=__doc__)

    def number(name, help):
        parser.add_argument(name, type=float, default=0.0, help=help)

    number("--work", "microseconds of CPU time for each request")
    number("--pause-every", "seconds of CPU time of serving between two pauses")
    number("--pause-for", "milliseconds that a pause takes, with the CPU busy")
    number("--slow-share", "probability (0 to 1) that this process needs half as long again for its whole life")
    return parser.parse_args()


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Counters:
    """What it did so far, for whoever reads the file."""

    def __init__(self):
        self.seconds = 0.0
        self.answers = 0
        path = os.environ.get("COUNTERS")
        self.shown = None
        if path:
            with open(path, "r+b") as file:
                self.shown = mmap.mmap(file.fileno(), 16)

    def show(self):
        if self.shown:
            struct.pack_into("<dd", self.shown, 0, self.seconds, self.answers)


class Server:
    def __init__(self, wanted):
        self.counters = Counters()
        self.work = wanted.work / 1e6
        if random.random() < wanted.slow_share:
            # What reading and writing take is not in the work, and is slower as well.
            self.work = 1.5 * (self.work + 20e-6)
        self.pause_every = wanted.pause_every
        self.pause_for = wanted.pause_for / 1e3
        self.paused_at = time.process_time()

    def pause_if_due(self):
        if self.pause_every and time.process_time() - self.paused_at >= self.pause_every:
            spin(self.pause_for)
            self.counters.seconds -= self.pause_for
            self.paused_at = time.process_time()

    def serve(self, connection):
        """Answers what has come; False if the client has gone."""
        try:
            received = connection.recv(65536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not received:
            return False
        for _ in range(received.count(END_OF_HEAD)):
            if self.work:
                spin(self.work)
            connection.sendall(ANSWER)
            self.counters.answers += 1
        self.pause_if_due()
        return True


def main():
    server = Server(options())
    listener = socket.create_server((os.environ.get("HOST", "127.0.0.1"), int(os.environ["PORT"])), backlog=1024)
    listener.setblocking(False)
    ready = selectors.DefaultSelector()
    ready.register(listener, selectors.EVENT_READ)
    while True:
        events = ready.select()
        begun = time.perf_counter()
        for key, _ in events:
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                ready.register(connection, selectors.EVENT_READ)
            elif not server.serve(key.fileobj):
                ready.unregister(key.fileobj)
                key.fileobj.close()
        server.counters.seconds += time.perf_counter() - begun
        server.counters.show()


main()
