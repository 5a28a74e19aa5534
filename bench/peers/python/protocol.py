"""The line protocol of ../PROTOCOL.md over stdin and stdout, for toolkits in Python.

A toolkit is an object with

    name, version       for the answer to `hello`
    operations          the operations of its server; empty if there is none
    calls               the operations that its client calls; empty if there is none
    transports          the transports of both besides plain HTTP
    kinds               the kinds of messages that it decodes and encodes outside of calls; all of OPERATIONS unless it has this
    has_composites      true if it supports the types of composites.wsdl; each is a kind with its name, such as `I2D0S1`
    decode(kind, message)   returns the values of a message; raises if it is not of the kind
    encode(kind, values)    returns the complete message, bytes
    serve(connections, transport)   starts the server, returns its port
    client(transport, port, operation, kind, values)    returns a function that calls and returns the response's values, or their number;
                            `values` is a number for operations that receive

Values are a list of ints, floats, strings or (for structs and events) tuples, bytes for `base64`, an array of doubles for `doubles64`;
for a composite type a tuple of its fields in order.
"""

import array
import gc
import json
import os
import re
import struct
import sys
import time

COPIES = 16

OPERATIONS = {
    "ints": "sendInts",
    "easy": "sendDoubles",
    "hard": "sendDoubles",
    "strings": "sendStrings",
    "structs": "sendMios",
    "events": "sendEvents",
    "base64": "sendBase64",
    "doubles64": "sendBase64",
}


# The kinds of items in names of operations.
KINDS = {"Ints": "ints", "Doubles": "hard", "Strings": "strings", "Mios": "structs", "Events": "events", "Base64": "base64"}


class Transport:
    """The transport of server and client."""

    def __init__(self, name, folder):
        self.is_gzip, self.is_tls, self.folder = name.startswith("gzip"), name.endswith("tls"), folder
        self.scheme = "https" if self.is_tls else "http"
def composite_in(message):
    """Returns the composite type of a message: what follows `:send` in the name of its element."""
    found = re.search(rb":send(I\d+D\d+S\d+)", message)
    if not found:
        raise ValueError("no composite type")
    return found[1].decode()


def fields_of(composite):
    """Returns the names of its fields, in order."""
    counts = map(int, re.fullmatch(r"I(\d+)D(\d+)S(\d+)", composite).groups())
    return [f"{letter}{at}" for letter, count in zip("ids", counts) for at in range(count)]


def doubles_of(octets):
    """Returns doubles from their bits, little-endian like every machine that runs this."""
    doubles = array.array("d")
    doubles.frombytes(octets)
    return doubles


def octets_of(kind, values):
    """Returns the input of the checksum."""
    if kind == "ints":
        return struct.pack(f"<{len(values)}i", *values)
    if kind in ("easy", "hard"):
        return struct.pack(f"<{len(values)}d", *values)
    if kind == "strings":
        return b"".join(map(text, values))
    if kind == "structs":
        return b"".join(struct.pack("<iid", *mio) for mio in values)
    if kind == "events":
        return b"".join(struct.pack("<id", id, value) + text(message) for id, value, message in values)
    if kind in ("base64", "doubles64"):
        return values if kind == "base64" else values.tobytes()
    return b"".join(map(octets_of_field, values))


def octets_of_field(value):
    if isinstance(value, str):
        return text(value)
    return struct.pack("<i" if isinstance(value, int) else "<d", value)


def text(value):
    octets = value.encode()
    return struct.pack("<I", len(octets)) + octets


def checksum(kind, values):
    """Returns the 64-bit FNV-1a."""
    state = 0xCBF29CE484222325
    for octet in octets_of(kind, values):
        state = (state ^ octet) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{state:016x}"


def resident(key):
    """Returns a line of /proc/self/status, in bytes; 0 if missing."""
    try:
        with open("/proc/self/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        return int(lines[key].split()[0]) * 1024
    except (OSError, KeyError):
        return 0


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


class Decode:
    def __init__(self, toolkit, kind, message):
        self.toolkit, self.kind, self.next = toolkit, kind, 0
        # A full slice would be the same object.
        self.messages = [bytes(bytearray(message)) for _ in range(COPIES)]
        gc.collect()
        self.baseline = resident("VmRSS")
        self.values = None
        self.once()

    def once(self):
        self.values = None
        self.next = (self.next + 1) % COPIES
        self.values = self.toolkit.decode(self.kind, self.messages[self.next])

    def checksum(self):
        return checksum(self.kind, self.values)

    def bytes(self):
        return len(self.messages[0])


class Encode:
    def __init__(self, toolkit, kind, message):
        self.toolkit, self.kind = toolkit, kind
        self.values = toolkit.decode(kind, message)
        gc.collect()
        self.baseline = resident("VmRSS")
        self.once()

    def once(self):
        self.output = None
        self.output = self.toolkit.encode(self.kind, self.values)

    def checksum(self):
        return checksum(self.kind, self.toolkit.decode(self.kind, self.output))

    def bytes(self):
        return len(self.output)


class Calls:
    def __init__(self, toolkit, transport, port, operation, n, message):
        direction, items = next((word, operation.removeprefix(word)) for word in ("echo", "send", "receive") if operation.startswith(word))
        self.kind = KINDS.get(items)
        values = n if direction == "receive" else toolkit.decode(self.kind, message) if self.kind else None
        self.baseline, self.length = resident("VmRSS"), len(message)
        if direction == "send" or not self.kind:
            self.kind = "ints"
        self.call = toolkit.client(transport, port, operation, KINDS.get(items), values)
        self.once()

    def once(self):
        self.values = None
        self.values = self.call()

    def checksum(self):
        """A number counts as one int; None as no value."""
        values = [self.values] if isinstance(self.values, int) else self.values or []
        return checksum(self.kind, values or (b"" if self.kind == "base64" else []))

    def bytes(self):
        return self.length


class Peer:
    def __init__(self, toolkit, requests, answers):
        self.toolkit, self.requests, self.answers = toolkit, requests, answers
        self.prepared = None
        self.transport = Transport("plain", None)

    def run(self):
        while (line := self.requests.readline()) and line != b"quit\n":
            try:
                answer = self.answer(line.decode().split())
            except Exception as error:
                answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:500]}
            self.answers.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n")
            self.answers.flush()

    def answer(self, words):
        match words:
            case ["hello"]:
                return self.hello()
            case ["prepare", workload, _, length]:
                return self.prepare(workload, self.requests.read(int(length)))
            case ["call", port, operation, n, length]:
                return self.call(int(port), operation, int(n), self.requests.read(int(length)))
            case ["transport", name, folder] if name in ["plain", *self.toolkit.transports]:
                self.transport = Transport(name, folder)
                return {"ok": True}
            case ["run", count]:
                return self.time(int(count))
            case ["output"]:
                return b"%d\n" % len(self.prepared.output) + self.prepared.output
            case ["serve", connections] if int(connections) > 0 and self.toolkit.operations:
                return {"ok": True, "port": self.toolkit.serve(int(connections), self.transport)}
        raise ValueError(f"this peer does not know {words}")

    def hello(self):
        kinds = [*getattr(self.toolkit, "kinds", OPERATIONS), *(["composites"] if self.toolkit.has_composites else [])]
        workloads = [f"{direction}-{kind}" for direction in ("decode", "encode") for kind in kinds]
        toolkit = self.toolkit
        offered = {"operations": toolkit.operations, "calls": toolkit.calls, "transports": toolkit.transports}
        return {"peer": toolkit.name, "version": toolkit.version, "workloads": workloads, **offered}

    def prepare(self, workload, message):
        self.prepared = None
        direction, kind = workload.split("-")
        if kind == "composites" and self.toolkit.has_composites:
            kind = composite_in(message)
        elif kind not in OPERATIONS:
            raise ValueError(f"unknown workload {workload}")
        return self.answer_for({"decode": Decode, "encode": Encode}[direction](self.toolkit, kind, message))

    def call(self, port, operation, n, message):
        self.prepared = None
        if operation not in self.toolkit.calls:
            raise ValueError(f"no call of {operation}")
        return self.answer_for(Calls(self.toolkit, self.transport, port, operation, n, message))

    def answer_for(self, prepared):
        sum = prepared.checksum()
        self.prepared = prepared
        return {"ok": True, "checksum": sum, "bytes": prepared.bytes()}

    def time(self, count):
        reset_peak()
        before = time.thread_time_ns()
        times = [self.once() for _ in range(count)]
        cpu = time.thread_time_ns() - before
        peak = max(0, resident("VmHWM") - self.prepared.baseline)
        return {"ns": times, "checksum": self.prepared.checksum(), "peak_bytes": peak, "cpu_ns": cpu}

    def once(self):
        start = time.perf_counter_ns()
        self.prepared.once()
        return time.perf_counter_ns() - start


def main(toolkit):
    # The output of a library is not an answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Peer(toolkit, sys.stdin.buffer, answers).run()
    # Server threads do not keep the process alive.
    os._exit(0)
