#!/usr/bin/env python3
"""An HTTP/1.1 server whose faults are known, for `cargo xtask evidence`: one process, one thread, the same answer to every
request. It listens at HOST and PORT. If COUNTERS names a file of 16 bytes, it counts there, as two doubles, the seconds that
it served without its pauses, and its answers."""

import argparse
import hashlib
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

    number("--work", "microseconds by the clock for each request, however fast the CPU is")
    number("--rounds", "rounds of PBKDF2 for each request: the same computation, however fast the CPU is")
    number("--lines", "cache lines that each request reads at random places of its memory")
    number("--mib", "MiB of that memory")
    number("--batch", "requests of one connection in a row before the next connection has its turn")
    number("--timer-every", "milliseconds between two jobs that no request asks for")
    number("--timer-work", "milliseconds that such a job takes")
    number("--pause-every", "seconds of CPU time of serving between two pauses")
    number("--pause-for", "milliseconds that a pause takes, with the CPU busy")
    number("--slow-share", "probability (0 to 1) that this process is about half as fast for its whole life")
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


# How long a connection that has sent nothing more is waited for in its batch.
PATIENCE = 200e-6
LINE = 64


class Server:
    def __init__(self, wanted):
        self.counters = Counters()
        self.work = wanted.work / 1e6
        self.rounds = int(wanted.rounds)
        self.lines = int(wanted.lines)
        self.memory = bytearray(os.urandom(1 << 20) * int(wanted.mib))
        self.batch = int(wanted.batch) or 1
        self.timer_every = wanted.timer_every / 1e3
        self.timer_work = wanted.timer_work / 1e3
        self.next_job = time.perf_counter() + self.timer_every
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

    def until_job(self):
        """Seconds until the next job is due; None if there are none."""
        return max(0, self.next_job - time.perf_counter()) if self.timer_every else None

    def do_job_if_due(self):
        if self.timer_every and time.perf_counter() >= self.next_job:
            spin(self.timer_work)
            # What came due while it was frozen is done once.
            self.next_job = max(self.next_job + self.timer_every, time.perf_counter())

    def compute(self):
        if self.work:
            spin(self.work)
        if self.rounds:
            hashlib.pbkdf2_hmac("sha256", b"probe", b"salt", self.rounds)
        for _ in range(self.lines):
            self.memory[random.randrange(0, len(self.memory), LINE)]

    def serve(self, connection):
        """Answers what has come: how many requests; None if the client has gone."""
        try:
            received = connection.recv(65536)
        except BlockingIOError:
            return 0
        except OSError:
            return None
        if not received:
            return None
        requests = received.count(END_OF_HEAD)
        for _ in range(requests):
            self.compute()
            connection.sendall(ANSWER)
            self.counters.answers += 1
        self.pause_if_due()
        return requests

    def serve_in_a_row(self, connection):
        """Answers the requests of a batch, each of which it waits for a little; False if the client has gone."""
        answered, until = 0, time.perf_counter()
        while answered < self.batch:
            requests = self.serve(connection)
            if requests is None:
                return False
            answered += requests
            if requests:
                until = time.perf_counter() + PATIENCE
            elif time.perf_counter() >= until:
                break
        return True


def main():
    server = Server(options())
    listener = socket.create_server((os.environ.get("HOST", "127.0.0.1"), int(os.environ["PORT"])), backlog=1024)
    listener.setblocking(False)
    ready = selectors.DefaultSelector()
    ready.register(listener, selectors.EVENT_READ)
    while True:
        events = ready.select(server.until_job())
        begun = time.perf_counter()
        for key, _ in events:
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setblocking(False)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                ready.register(connection, selectors.EVENT_READ)
            elif not server.serve_in_a_row(key.fileobj):
                ready.unregister(key.fileobj)
                key.fileobj.close()
        server.do_job_if_due()
        server.counters.seconds += time.perf_counter() - begun
        server.counters.show()


main()
