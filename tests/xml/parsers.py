"""Runs foreign parsers for `deltasoap-xml-test`: `parsers.py expat` or `parsers.py libxml2`.

Reads batches of documents from standard input and writes one answer for each document. A batch is the number of documents, then each
as its length and its bytes; an answer is its length and its bytes. All numbers have 32 bits, little-endian. An answer is `T` and the
tree, or `E`, the parser's error codes separated by commas, the offset of the error (only from expat), and a message, separated by NUL.

A tree is text: for each element \x01 and its name, for each attribute \x02, its name, \x03 and its value, sorted by name; \x04, the
content, \x05. A name is its namespace, \x06 and its local part, or only its local part. No XML document contains any of these characters.
"""

import struct
import sys


def expat():
    import pyexpat

    print(f"expat {pyexpat.EXPAT_VERSION.removeprefix('expat_')}", file=sys.stderr, flush=True)

    def parse(document):
        parts = []

        def start(name, attributes):
            parts.append(start_of(name, zip(attributes[::2], attributes[1::2])))

        parser = pyexpat.ParserCreate(namespace_separator="\6")
        parser.ordered_attributes = True
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = lambda name: parts.append("\5")
        parser.CharacterDataHandler = parts.append
        try:
            parser.Parse(document, True)
        except pyexpat.ExpatError as error:
            raise Refused([error.code], parser.ErrorByteIndex, error) from None
        return parts

    return parse


def libxml2():
    from lxml import etree

    print(f"libxml2 {'.'.join(map(str, etree.LIBXML_VERSION))}", file=sys.stderr, flush=True)

    def shown(name):
        return name[1:].replace("}", "\6", 1) if name[0] == "{" else name

    class Target:
        def __init__(self):
            self.parts = []

        def start(self, name, attributes):
            pairs = ((shown(name), value) for name, value in attributes.items())
            self.parts.append(start_of(shown(name), pairs))

        def end(self, name):
            self.parts.append("\5")

        def data(self, text):
            self.parts.append(text)

        def close(self):
            parts, self.parts = self.parts, []
            return parts

    target = Target()
    parser = etree.XMLParser(target=target, resolve_entities="internal", no_network=True)

    def parse(document):
        try:
            parts = etree.fromstring(document, parser)
        except etree.XMLSyntaxError as error:
            raise Refused(errors(), 0, error) from None
        # With a target, lxml ignores namespace errors.
        if codes := errors():
            raise Refused(codes, 0, parser.error_log.last_error.message)
        return parts

    def errors():
        return [entry.type for entry in parser.error_log if entry.level >= etree.ErrorLevels.ERROR]

    return parse


def start_of(name, attributes):
    """Formats the start of an element. Python sorts by code points, which is the byte order of UTF-8."""
    return "".join(["\1", name, *(f"\2{name}\3{value}" for name, value in sorted(attributes)), "\4"])


class Refused(Exception):
    """Formats the refusal of a document: codes, offset, message."""


def answer(parse, document):
    try:
        return b"T" + "".join(parse(document)).encode()
    except Refused as refused:
        codes, offset, message = refused.args
    except (LookupError, ValueError) as error:
        # An error of Python itself: an unknown encoding, or text that is not Unicode.
        codes, offset, message = [-1], 0, error
    return f"E{','.join(map(str, codes))}\0{offset}\0{message}".encode(errors="replace")


def number():
    return struct.unpack("<I", sys.stdin.buffer.read(4))[0]


def main():
    parse = {"expat": expat, "libxml2": libxml2}[sys.argv[1]]()
    while count := sys.stdin.buffer.read(4):
        documents = [sys.stdin.buffer.read(number()) for _ in range(*struct.unpack("<I", count))]
        for document in documents:
            found = answer(parse, document)
            sys.stdout.buffer.write(struct.pack("<I", len(found)) + found)
        sys.stdout.buffer.flush()


main()
