"""An agent with a fault, which its first argument names: whatever is asked of it otherwise, it answers well. The second one
is a file with the messages of a good agent, as JSON."""

import json
import os
import struct
import sys
import threading
import time
import zlib

fault, path = sys.argv[1:3]
with open(path) as file:
    good = json.load(file)
source, sink = sys.stdin.buffer, sys.stdout.buffer
lock = threading.Lock()
KINDS = ["hello", "clock", "ready", "reached", "interval", "observed", "opened", "sliced", "serving", "refused", "alive",
         "bye", "examined", "probed"]


def write(data):
    try:
        with lock:
            sink.write(data)
            sink.flush()
    except BrokenPipeError:
        os._exit(1)


def frame(kind, content):
    length = struct.pack("<I", len(content))
    head = bytes([kind])
    return length + struct.pack("<I", zlib.crc32(length + head + content)) + head + content


def say(name, **more):
    message = {"say": name, **good.get(name, {}), **more}
    write(frame(KINDS.index(name), json.dumps(message).encode()))


def order():
    head = source.read(9)
    if len(head) < 9:
        sys.exit(0)
    return json.loads(source.read(struct.unpack("<I", head[:4])[0]))


def pulse():
    while True:
        time.sleep(0.02)
        say("alive")


def forever(what):
    while True:
        what()


def hang():
    forever(lambda: time.sleep(1))


def changed(message, **more):
    """A message in which a key has another value, wherever that key is."""
    if isinstance(message, dict):
        return {key: more.get(key, changed(value, **more)) for key, value in message.items()}
    return message


def say_interval(**more):
    say("interval", interval={**good["interval"]["interval"], **more})


def load():
    say("ready")
    while True:
        asked = order()
        if asked["say"] == "clock":
            say("clock", nth=asked["nth"], at=time.monotonic_ns())
        if asked["say"] == "start":
            break
    if fault == "no result":
        hang()
    if fault == "an early interval":
        say_interval(index=1_000_000)
    if fault == "an interval twice":
        say_interval(index=1)
        say_interval(index=1)
    if fault == "an interval without an end":
        say_interval(until_seconds=1e6)
    if fault == "endless intervals":
        for index in range(1_000_000_000):
            say_interval(index=index)
    if fault == "endless instants":
        forever(lambda: say("reached", instant="counting-started"))
    if fault == "endless results":
        forever(lambda: say("observed"))
    if fault == "a result without an end":
        length = struct.pack("<I", 0xFFFFFFFF)
        write(length + b"0000" + bytes([KINDS.index("observed")]))
        forever(lambda: write(b"0" * 65536))
    if fault == "an endless duration":
        say("observed", **changed(good["observed"], window_seconds=1.8e19))
    if fault == "centuries":
        say("observed", **changed(good["observed"], window_seconds=1e12))
    if fault == "a long measurement":
        say("observed", **changed(good["observed"], window_seconds=1e6))
    if fault == "a huge count":
        say("observed", **changed(good["observed"], issued=2 ** 63))
    if fault == "many bins":
        bins = [{"succeeded": 0, "failed": 0}] * 100_000
        say("observed", **changed(good["observed"], bins=bins, bin_seconds=0.5))
    if fault == "another kind":
        write(frame(KINDS.index("ready"), json.dumps({"say": "bye"}).encode()))
    hang()


if fault == "endless greeting":
    forever(lambda: write(b"Welcome!\n" * 1000))
write(b"deadheat-agent 2\n")
if fault != "no pulse":
    threading.Thread(target=pulse, daemon=True).start()
while True:
    asked = order()
    name = asked["say"]
    if name == "hello":
        if fault == "no hello":
            hang()
        say("hello")
        if fault in ("deaf", "no pulse"):
            hang()
        if fault == "endless messages":
            forever(lambda: say("hello"))
        if fault == "endless words":
            sys.stderr.write("x" * 10_000_000)
            sys.exit(1)
    elif name == "clock":
        if fault == "no clock":
            hang()
        say("clock", nth=asked["nth"], at=time.monotonic_ns())
    elif name == "load":
        if fault == "a long refusal":
            say("refused", why="x" * 10_000_000)
        if fault == "not ready":
            hang()
        load()
    elif name == "open":
        if fault == "not open":
            hang()
        say("opened", load=asked["load"])
    elif name == "bye":
        say("bye")
        sys.exit(0)
    elif name != "alive":
        # Slices, databases and examinations.
        hang()
