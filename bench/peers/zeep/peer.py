"""zeep as a peer of the benchmark: a client that writes requests, and reads messages with the same WSDL.

    peer.py WSDL COMPOSITES
"""

import functools
import sys
from importlib.metadata import version
from types import SimpleNamespace

import requests
import zeep
from lxml import etree
from zeep.loader import parse_xml

import protocol

BODY = "{http://schemas.xmlsoap.org/soap/envelope/}Body"


class Zeep:
    name = "zeep"
    version = version("zeep")
    operations = []
    calls = ["echoVoid"] + [direction + items for items in protocol.KINDS for direction in ("echo", "send", "receive")]
    transports = ["tls"]
    has_composites = True

    def __init__(self, wsdl, composites):
        self.settings = zeep.Settings(xml_huge_tree=True)
        self.wsdl = wsdl
        self.suite = zeep.Client(wsdl, settings=self.settings)
        self.composites = zeep.Client(composites, settings=self.settings)

    def decode(self, kind, message):
        """Does what zeep does with a message between its transport and the caller."""
        client, operation = self.operation(kind)
        envelope = parse_xml(message, client.transport, settings=self.settings)
        element = envelope.find(BODY)[0]
        declaration = client.wsdl.types.get_element("{urn:bench}" + operation)
        if element.tag != declaration.qname.text:
            raise ValueError(f"{element.tag} is another operation")
        content = declaration.parse(element, client.wsdl.types)
        return READ[kind](content) if kind in READ else composite(kind, content)

    def encode(self, kind, values):
        """Does what zeep does with a call's arguments up to its transport."""
        client, operation = self.operation(kind)
        named = arguments(kind, values) if kind in READ else dict(zip(fields_of(kind), values))
        envelope = client.create_message(client.service, operation, **named)
        return etree.tostring(envelope, xml_declaration=True, encoding="utf-8")

    def client(self, transport, port, operation, kind, values):
        """Calls with a zeep proxy, over a session with a persistent connection."""
        session = requests.Session()
        # Ignore the environment: no proxies, no other certificates.
        session.trust_env = False
        if transport.is_tls:
            session.verify = f"{transport.folder}/certificate.pem"
        session.headers["Accept-Encoding"] = "identity"
        client = zeep.Client(self.wsdl, settings=self.settings, transport=zeep.Transport(session=session))
        method = client.create_service("{urn:bench}Suite", f"{transport.scheme}://127.0.0.1:{port}/bench")[operation]
        if operation == "echoVoid":
            return lambda: method() and None
        if operation.startswith("receive"):
            return lambda: read(kind, method(count=values))
        # Each call creates the arguments, as an encode does.
        if operation.startswith("send"):
            return lambda: method(**arguments(kind, values))
        return lambda: read(kind, method(**arguments(kind, values)))

    def operation(self, kind):
        """Returns the client with a kind's operation, and its name."""
        if kind in protocol.OPERATIONS:
            return self.suite, protocol.OPERATIONS[kind]
        return self.composites, "send" + kind


def arguments(kind, values):
    field = "data" if kind in ("base64", "doubles64") else "item"
    return {field: WRITTEN.get(kind, list)(values)}


def read(kind, response):
    """zeep returns the only element of a response directly; without content, it returns None."""
    content = SimpleNamespace(item=response or [], data=response or b"")
    return READ[kind](content)


fields_of = functools.cache(protocol.fields_of)


def composite(kind, content):
    return [content[field] or "" if field[0] == "s" else content[field] for field in fields_of(kind)]


# zeep returns None for an empty string.
READ = {
    "ints": lambda content: content.item,
    "easy": lambda content: content.item,
    "hard": lambda content: content.item,
    "strings": lambda content: [item or "" for item in content.item],
    "structs": lambda content: [(item.x, item.y, item.v) for item in content.item],
    "events": lambda content: [(item.id, item.value, item.message or "") for item in content.item],
    "base64": lambda content: content.data,
    "doubles64": lambda content: protocol.doubles_of(content.data),
}

WRITTEN = {
    "structs": lambda values: [{"x": x, "y": y, "v": v} for x, y, v in values],
    "events": lambda values: [{"id": id, "value": value, "message": message} for id, value, message in values],
    "base64": lambda values: values,
    "doubles64": lambda values: values.tobytes(),
}

if __name__ == "__main__":
    protocol.main(Zeep(*sys.argv[1:]))
