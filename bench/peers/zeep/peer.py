"""zeep as a peer of the benchmark: a client that writes requests, and reads messages by the same description.

    peer.py WSDL
"""

import sys
from importlib.metadata import version

import zeep
from lxml import etree
from zeep.loader import parse_xml

import protocol

BODY = "{http://schemas.xmlsoap.org/soap/envelope/}Body"


class Zeep:
    name = "zeep"
    version = version("zeep")
    operations = []

    def __init__(self, wsdl):
        self.settings = zeep.Settings(xml_huge_tree=True)
        self.client = zeep.Client(wsdl, settings=self.settings)
        self.types = self.client.wsdl.types

    def decode(self, kind, message):
        """What zeep does with a message between its transport and the caller."""
        envelope = parse_xml(message, self.client.transport, settings=self.settings)
        element = envelope.find(BODY)[0]
        declaration = self.types.get_element("{urn:bench}" + protocol.OPERATIONS[kind])
        if element.tag != declaration.qname.text:
            raise ValueError(f"{element.tag} is another operation")
        return READ[kind](declaration.parse(element, self.types))

    def encode(self, kind, values):
        """What zeep does with a call's arguments up to its transport."""
        field = "data" if kind in ("base64", "doubles64") else "item"
        arguments = {field: WRITTEN.get(kind, list)(values)}
        envelope = self.client.create_message(self.client.service, protocol.OPERATIONS[kind], **arguments)
        return etree.tostring(envelope, xml_declaration=True, encoding="utf-8")


# zeep gives None for an empty string.
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
    protocol.main(Zeep(sys.argv[1]))
