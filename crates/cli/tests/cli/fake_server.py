"""A stack for the tests of Deadheat: answers GET /plaintext and POST /json over HTTP/1.1 with keep-alive and
pipelining, with one fault on request. Where it is given the ports, it also speaks HTTP/1.1 and HTTP/2 over TLS, and HTTP/2
without TLS; over HTTP/2 it takes every request for GET /plaintext that is not for the probes' unknown path.

FAULT   what goes wrong; every fault is handled below under its name
DEADHEAT_TEST_EVENTS  a file that takes a line for what happens: "<event> <pid>"
DEADHEAT_TEST_THIEF   a Unix socket of the test, which takes the port that it is told, as another program could
"""

import json
import os
import select
import signal
import socket
import ssl
import struct
import sys
import threading
import time

RIGHT = b"Hello, World!"
# As long as the right answer, so that only a look at the content tells them apart.
WRONG = b"Howdy, World?"
# So slow that no generator is the limit, in seconds.
UNHURRIED = 0.002
# A server that has had nothing to do for so long has been frozen, or its machine is busy, in seconds.
PAUSE = 0.05
# More requests than a connection of the probes has: the next one shows that the server is loaded. A slice has time for
# about as many on each connection, however slow the machine is.
PROBED = 20
# More connections than the probes have open but when they ask over many at once.
CROWD = 16

fault = os.environ.get("FAULT", "none")


def event(what):
    if "DEADHEAT_TEST_EVENTS" in os.environ:
        # One short write to a file opened for appending: lines of several processes do not mix.
        with open(os.environ["DEADHEAT_TEST_EVENTS"], "ab", buffering=0) as file:
            file.write(f"{what} {os.getpid()}\n".encode())


def say(text):
    print(f"fake: {text}", file=sys.stderr, flush=True)


class Server:
    def __init__(self, listener):
        self.listener = listener
        self.answered = 0
        self.loaded_at = None
        self.open = 0
        self.dying = False
        self.awake_at = None
        self.has_forgotten = False
        self.greeting_before = None
        self.versions = set()

    def run(self):
        """One thread and no queue: all connections are served alike."""
        self.listener.setblocking(False)
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        connections = {}
        turned_away = []
        while True:
            # Not for ever: a signal between Python's own check and the wait would not be handled before the next event.
            found = poll.poll(0.2)
            if self.has_paused():
                self.has_forgotten = fault == "wrong-after-a-pause"
                if fault == "closes-idle":
                    idle = [one for one in connections.values() if one.requests > PROBED]
                    for one in idle:
                        number = one.socket.fileno()
                        poll.unregister(number)
                        connections.pop(number).socket.close()
            for number, _ in found:
                if number != self.listener.fileno() and number not in connections:
                    # It was closed a moment ago.
                    continue
                if number == self.listener.fileno():
                    for connection in self.waiting():
                        if fault == "turns-away" and len(connections) > CROWD:
                            # Kept, because closing it with a request unread would reset it at times.
                            connection.shutdown(socket.SHUT_WR)
                            turned_away.append(connection)
                            continue
                        poll.register(connection, select.EPOLLIN)
                        connections[connection.fileno()] = Connection(connection)
                elif not connections[number].converse(self):
                    poll.unregister(number)
                    connections.pop(number).socket.close()
                    if self.dying:
                        say("cannot stomach that")
                        os._exit(9)
                self.open = len(connections)

    def waiting(self):
        """Takes in all connections that wait: one at a time, a crowd might have left before it is one."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except BlockingIOError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield connection

    def has_paused(self):
        """Whether it had nothing to do for long, after it was loaded."""
        before, self.awake_at = self.awake_at, time.monotonic()
        return self.loaded_at is not None and self.awake_at - before > PAUSE

    def answer(self, request, own):
        """The answer to a connection's request number `own`; `None`: there is none."""
        route = (request.method, request.path.split(b"?")[0])
        if route == (b"GET", b"/plaintext") or (request.method == b"DELETE" and fault == "deletes"):
            self.count(own)
            return answer(200, WRONG if self.is_wrong(own) else RIGHT)
        if route == (b"POST", b"/json"):
            return self.greet(request)
        if request.method == b"DELETE":
            if fault == "hangs-on-delete":
                event("hangs")
                return None
            return answer(405)
        return answer(200 if fault == "finds-everything" else 404)

    def greet(self, request):
        if not request.is_json and fault != "reads-any-type":
            return answer(415)
        try:
            person = json.loads(request.body)
            if fault != "needs-no-username":
                person["username"] + ""
            greeting = "Hello, " + person["name"] + "!"
        except (ValueError, TypeError, KeyError):
            if fault == "fails-on-malformed":
                return answer(500)
            self.dying = fault == "dies-of-malformed"
            return answer(400)
        if fault == "mixes-up" and self.open > CROWD:
            # The one before is another connection's: each waits for its own before it asks again.
            greeting, self.greeting_before = self.greeting_before or greeting, greeting
        return answer(200, greeting.encode())

    def note_version(self, version):
        if version not in self.versions:
            self.versions.add(version)
            event(version.decode())

    def count(self, own):
        if fault in ("unhurried", "slow-start"):
            time.sleep(UNHURRIED)
        self.answered += 1
        if self.answered == 1:
            event("answered")
        if self.loaded_at is None and own > PROBED:
            self.loaded_at = time.monotonic()
            event("loaded")
            if fault == "right-then-wrong":
                say("answers wrongly from now on")
            if fault == "dies-under-load":
                say("out of paper")
                os._exit(9)

    def is_wrong(self, own):
        if fault == "right-then-wrong":
            return self.loaded_at is not None
        if fault == "wrong-after-a-pause":
            return self.has_forgotten
        if fault == "right-until-after":
            # The load's connections are busy; the one of the probes has had a handful of requests.
            return self.loaded_at is not None and time.monotonic() > self.loaded_at + 0.3 and own < PROBED
        return fault == "wrong-answer"


def answer(status, body=b""):
    kind = b"text/html" if fault == "wrong-type" else b"text/plain"
    date = b"" if fault == "undated" else time.strftime("Date: %a, %d %b %Y %H:%M:%S GMT\r\n", time.gmtime()).encode()
    head = b"HTTP/1.1 %d Status\r\n%bContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (status, date, kind, len(body)) + body


# Bytes that a server which leaves bodies unread takes off a connection.
BUFFERED = 8192


class Request:
    """The request at the beginning of some bytes; `length` is 0 while it is not whole."""

    def __init__(self, text):
        self.length = 0
        head, end, rest = text.partition(b"\r\n\r\n")
        if not end:
            return
        self.method, self.path, self.version = head.split(b"\r\n")[0].split(b" ")
        headers = head.lower()
        self.is_json = b"\r\ncontent-type: application/json" in headers
        if fault == "knows-one-type":
            self.is_json = b"\r\nContent-Type: application/json\r\n" in head + b"\r\n"
        self.keeps = self.version == b"HTTP/1.1" or fault == "keeps-http-1.0"
        if b"\r\ntransfer-encoding: chunked" in headers:
            self.body, length = unchunk(rest)
        else:
            _, _, size = headers.partition(b"\r\ncontent-length: ")
            length = int(size.split(b"\r\n")[0] or 0)
            if fault == "leaves-bodies-unread" and length > BUFFERED:
                length = rest.rfind(b"GET ", 0, BUFFERED)
            self.body = rest[:length]
            length = length if len(rest) >= length else None
        if length is not None:
            self.length = len(head) + len(end) + length


def unchunk(text):
    """A body that comes in chunks, and the length that it had; `None` while it is not whole."""
    body, at = b"", 0
    while (end := text.find(b"\r\n", at)) >= 0:
        size = int(text[at:end], 16)
        at = end + 2 + size + 2
        if at > len(text):
            break
        if size == 0:
            return body, at
        body += text[end + 2 : at - 2]
    return body, None


class Connection:
    def __init__(self, own_socket):
        self.socket = own_socket
        self.waiting = b""
        self.requests = 0
        self.spoilt = False

    def converse(self, server):
        """Answers what has come; whether the connection goes on."""
        try:
            more = self.socket.recv(65536)
            self.waiting += more
            return bool(more) and self.answer_all(server)
        except OSError:
            return False

    def answer_all(self, server):
        answers, keeps = [], True
        while keeps and (request := Request(self.waiting)).length:
            self.waiting = self.waiting[request.length :]
            self.requests += 1
            server.note_version(request.version)
            reply = server.answer(request, self.requests)
            if reply is None:
                return True
            if self.spoilt:
                reply = answer(400)
            self.spoilt = self.spoilt or (fault == "spoils-connections" and b" 400 " in reply[:16])
            if fault == "chunks-for-http-1.0" and not request.keeps:
                head, body = answer(200, RIGHT).partition(b"Content-Length")[0], RIGHT
                reply = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
            answers.append(reply)
            keeps = request.keeps and not fault == "closes" and not server.dying
        if fault == "reads-once" and self.waiting:
            answers, keeps = [answer(400)], False
        if fault == "out-of-order":
            answers.reverse()
        self.socket.sendall(b"".join(answers))
        return keeps


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7
END_STREAM, ACK = 1, 1
# "/deadheat-no-such-path" in the Huffman code of HPACK, as it comes first on a connection.
UNKNOWN_PATH = bytes.fromhex("62428e49ca34ad51d645a49d6ac699ff")


class Http2:
    """A connection of HTTP/2 whose answers are known beforehand, so that no header has to be decoded."""

    def __init__(self, own_socket):
        self.socket = own_socket
        self.unknown = set()

    def converse(self):
        if self.take(len(PREFACE)) != PREFACE:
            if fault == "h2c-hangs-on-http1":
                time.sleep(600)
            return
        self.send(SETTINGS, 0, 0, b"")
        while head := self.take(9):
            length, kind, flags, stream = struct.unpack(">I", b"\0" + head[:3])[0], head[3], head[4], head[5:]
            payload = self.take(length)
            stream = struct.unpack(">I", stream)[0]
            if kind == GOAWAY:
                return
            if kind in (SETTINGS, PING) and not flags & ACK:
                self.send(kind, ACK, 0, payload if kind == PING else b"")
            if kind == HEADERS and UNKNOWN_PATH in payload:
                self.unknown.add(stream)
            if kind in (HEADERS, DATA) and flags & END_STREAM:
                self.answer(stream)

    def answer(self, stream):
        if fault == "few-streams" and stream > 6:
            # RST_STREAM with REFUSED_STREAM, though it has allowed as many as there can be.
            return self.send(3, 0, stream, struct.pack(">I", 7))
        is_unknown = stream in self.unknown and fault != "finds-everything-over-h2"
        body = b"" if is_unknown else WRONG if fault == "wrong-over-h2" else RIGHT
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode()
        # RFC 7541, appendix A: 404 is 13, 200 is 8; content-length is 28, content-type 31, date 33.
        fields = [(28, b"%d" % len(body)), (31, b"text/plain"), (33, date)]
        head = b"\x8d" if is_unknown else b"\x88"
        for name, value in fields:
            head += bytes([0x0F, name - 15, len(value)]) + value
        self.send(HEADERS, 4 | (0 if body else END_STREAM), stream, head)
        if body:
            self.send(DATA, END_STREAM, stream, body)

    def send(self, kind, flags, stream, payload):
        head = struct.pack(">I", len(payload))[1:] + bytes([kind, flags])
        self.socket.sendall(head + struct.pack(">I", stream) + payload)

    def take(self, length):
        """So many bytes; none at the end of the connection."""
        came = b""
        while len(came) < length:
            more = self.socket.recv(length - len(came))
            if not more:
                return b""
            came += more
        return came


def converse_over_h2c(own_socket, server):
    if fault == "h2c-is-http1":
        converse_over_http1(own_socket, server)
    else:
        Http2(own_socket).converse()


def converse_over_tls(own_socket, server):
    chosen = own_socket.selected_alpn_protocol()
    if chosen == "h2" or fault == "knows-h2-alone":
        Http2(own_socket).converse()
    else:
        converse_over_http1(own_socket, server)


def converse_over_http1(own_socket, server):
    connection = Connection(own_socket)
    while connection.converse(server):
        pass


def tls_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if fault == "own-certificate":
        context.load_cert_chain("own.pem", "own-key.pem")
    else:
        context.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
    context.set_alpn_protocols(["http/1.1"] if fault == "no-h2-by-alpn" else ["h2", "http/1.1"])
    return context


def listen_beside(variable, server, converse, wrap):
    """Serves at the port that the variable names, with a thread for each connection."""
    listener = socket.create_server((os.environ["HOST"], int(os.environ[variable])), backlog=1024)
    event(variable)

    def serve(connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with wrap(connection) as wrapped:
                converse(wrapped, server)
        except OSError:
            connection.close()

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


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
        thief.connect(os.environ["DEADHEAT_TEST_THIEF"])
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
    event(f"has-{os.environ.get('CPUS')}-of-{len(os.sched_getaffinity(0))}-cpus")
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
    server = Server(listener)
    if "H2C_PORT" in os.environ:
        listen_beside("H2C_PORT", server, converse_over_h2c, lambda connection: connection)
    if "TLS_PORT" in os.environ:
        context = tls_context()
        wrap = lambda connection: context.wrap_socket(connection, server_side=True)
        listen_beside("TLS_PORT", server, converse_over_tls, wrap)
    server.run()


main()
