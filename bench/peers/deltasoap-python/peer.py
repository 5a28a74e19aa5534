"""deltasoap for Python as a peer of the benchmark: a client with columns, without differential modes.

    peer.py WSDL COMPOSITES
"""

import base64
import sys
from importlib.metadata import version

import deltasoap
import numpy as np
import pyarrow as pa
from lxml import etree

import protocol

BODY = "{http://schemas.xmlsoap.org/soap/envelope/}Body"
MIO = np.dtype([("x", "<i4"), ("y", "<i4"), ("v", "<f8")])


class DeltasoapPython:
    name = "deltasoap-python"
    version = version("deltasoap")
    operations = []
    calls = ["echoVoid"] + [direction + items for items in protocol.KINDS for direction in ("echo", "send", "receive")]
    transports = []
    has_composites = False
    # Messages are read and written within calls alone.
    kinds = []

    def __init__(self, wsdl, _):
        self.suite = deltasoap.Client(wsdl, differential=False)

    def decode(self, kind, message):
        """Returns the values of a request, as a program has them: arrays, tables, lists of strings, bytes."""
        request = etree.fromstring(message, etree.XMLParser(huge_tree=True)).find(BODY)[0]
        return VALUES[kind](request)

    def client(self, transport, port, operation, kind, values):
        """Calls with a service proxy, which keeps its connection."""
        method = self.suite.create_service("{urn:bench}Suite", f"{transport.scheme}://127.0.0.1:{port}/bench")[operation]
        if operation == "echoVoid":
            return lambda: method() and None
        arguments = {"count" if operation.startswith("receive") else "data" if kind == "base64" else "item": values}
        if operation.startswith("send"):
            return lambda: method(**arguments)
        # Structs end in a record batch of Arrow, numbers in an array of NumPy.
        if kind in ("structs", "events"):
            return lambda: Records(pa.record_batch(method(**arguments)))
        return (lambda: Items(method(**arguments))) if kind != "base64" else (lambda: method(**arguments) or b"")


class Items:
    """An array or a list, for the checksum."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)


class Records(Items):
    """A record batch whose items are tuples."""

    def __len__(self):
        return self.values.num_rows

    def __iter__(self):
        return zip(*(column.to_pylist() for column in self.values.columns))


def texts(request):
    return [item.text or "" for item in request]


def columns(request):
    return {field.tag: [item.find(field.tag).text or "" for item in request] for field in request[0]}


def mios(request):
    """Structs are an argument as a structured array."""
    read = columns(request) if len(request) else {name: [] for name in MIO.names}
    made = np.empty(len(request), MIO)
    for name in MIO.names:
        made[name] = read[name]
    return made


def events(request):
    """Structs with strings are an argument as a table."""
    read = columns(request) if len(request) else {"id": [], "value": [], "message": []}
    types = [("id", pa.int32(), int), ("value", pa.float64(), float), ("message", pa.string(), str)]
    return pa.table({name: pa.array(map(made, read[name]), type) for name, type, made in types})


VALUES = {
    "ints": lambda request: np.array(texts(request), dtype=np.int32),
    "hard": lambda request: np.array(texts(request), dtype=np.float64),
    "strings": texts,
    "structs": mios,
    "events": events,
    "base64": lambda request: base64.b64decode(request[0].text or ""),
}

if __name__ == "__main__":
    protocol.main(DeltasoapPython(*sys.argv[1:]))
