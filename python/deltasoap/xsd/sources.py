"""The documents of a contract, so that it can be imported again with further schemas.

The engine prepares what messages can contain: elements, and the types that these reach. A type
that a user asks for by name, or one built in Python over the types of a WSDL, may be none of
these; then an element of the type is added and everything is imported once more, from memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from deltasoap import ns
from deltasoap.exceptions import TransportError
from deltasoap.loader import absolute_location, check_external, normalize_location, parse_xml
from deltasoap.settings import Settings
from deltasoap.xsd.names import quoteattr

#: Where a document without a location is said to be.
LOCATION = "http://deltasoap.invalid/document"


class Sources:
    """The root document, and how others are loaded.

    :param root: a WSDL, or the texts of schemas
    :param location: where it comes from
    """

    def __init__(
        self,
        root: bytes | list[str],
        location: str | None,
        transport: Any,
        settings: Settings | None = None,
    ) -> None:
        self._schemas = root if isinstance(root, list) else []
        self.root = wrapped(root) if isinstance(root, list) else root
        self.location = location or LOCATION
        self._transport = transport
        self._settings = settings or Settings()
        self._loaded: dict[str, bytes] = {}
        self._progress: Callable[[str], object] | None = None

    @property
    def documents(self) -> list[bytes]:
        """The documents that are loaded."""
        return [each for each in (self.root, *self._loaded.values()) if each]

    def namespaces(self) -> list[str]:
        """The target namespaces of the schemas in the order in which they are named."""
        found: dict[str, None] = {}
        root = self.root or self._document(self.location)
        if root:
            self._collect(root, self.location, found, set())
        return list(found)

    def _document(self, location: str) -> bytes | None:
        """A document that was loaded, or that the engine read from a file."""
        if location in self._loaded or not os.path.isfile(location):
            return self._loaded.get(location)
        with open(location, "rb") as file:
            return file.read()

    def _collect(
        self, document: bytes, location: str, found: dict[str, None], seen: set[str]
    ) -> None:
        from lxml import etree

        seen.add(location)
        root = etree.fromstring(document)
        for node in root.iter(f"{{{ns.WSDL}}}import", f"{{{ns.XSD}}}schema"):
            if node.tag == f"{{{ns.XSD}}}schema":
                found.setdefault(node.get("targetNamespace") or "", None)
                references = node.iterchildren(f"{{{ns.XSD}}}import", f"{{{ns.XSD}}}include")
            else:
                references = iter([node])
            for each in references:
                place = each.get("schemaLocation") or each.get("location")
                target = absolute_location(place, location) if place else ""
                content = self._document(target) if target not in seen else None
                if content:
                    self._collect(content, target, found, seen)

    def contract(self, progress: Callable[[str], object] | None = None) -> Any:
        """The contract of the documents; `progress` is called before one is loaded."""
        from deltasoap import _engine

        self._progress = progress
        if not self.root:
            return self._loaded_by_engine()
        if self._is_file():
            # The engine reads the files near it by itself.
            return _engine.Contract.load(self.location, load=self._load)
        return self._parsed(self.root, self.location)

    def _loaded_by_engine(self) -> Any:
        from deltasoap import _engine

        if not urlsplit(self.location).scheme:
            os.stat(self.location)  # the error of Python is the one that programs expect
        return _engine.Contract.load(self.location, progress=self._progress)

    def _is_file(self) -> bool:
        """Whether the root document is a file, unchanged."""
        if not os.path.isabs(self.location) or not os.path.isfile(self.location):
            return False
        with open(self.location, "rb") as file:
            return file.read() == self.root

    def extended(self, schemas: list[str]) -> Any:
        """The contract of the documents and of further schemas."""
        if self._schemas:
            return self._parsed(wrapped([*self._schemas, *schemas]), self.location)
        namespace = _target_of(self.root) if self.root else ""
        own = f"<w:import namespace={quoteattr(namespace)} location={quoteattr(self.location)}/>"
        # What the import read before, it may read again, wherever it is.
        root = "/" if os.path.isabs(self.location) else None
        return self._parsed(wrapped(schemas, own), f"{self.location}.extended", root)

    def _parsed(self, document: bytes, location: str, root: str | None = None) -> Any:
        from deltasoap import _engine

        parts = urlsplit(location)
        if parts.scheme == "file":
            from urllib.request import url2pathname

            location = url2pathname(parts.path)
        return _engine.Contract.parse(document, location, load=self._load, root=root)

    def _load(self, location: str) -> bytes:
        if location == self.location:
            return self.root
        location = normalize_location(self._settings, location, self.location)
        if location not in self._loaded:
            check_external(location, self._settings)
            if self._transport is None:
                raise TransportError(f"{location} cannot be loaded: pass a transport")
            if self._progress is not None:
                self._progress(location)
            content = self._transport.load(location)
            self._loaded[location] = checked(content, self._transport, self._settings)
        return self._loaded[location]


def wrapped(schemas: list[str], imports: str = "") -> bytes:
    """Schemas as a WSDL without services."""
    start = f"<w:definitions xmlns:w={quoteattr(ns.WSDL)}>{imports}<w:types>"
    return f"{start}{''.join(schemas)}</w:types></w:definitions>".encode()


def checked(content: str | bytes, transport: Any, settings: Settings) -> bytes:
    """A document, after the checks of the settings."""
    data = content.encode() if isinstance(content, str) else bytes(content)
    if b"<!DOCTYPE" in data or not settings.strict:
        from lxml import etree

        root = parse_xml(data, transport, settings=settings)
        if not settings.strict:
            return etree.tostring(root)
    return data


def _target_of(document: bytes) -> str:
    from lxml import etree

    return etree.fromstring(document).get("targetNamespace", "")
