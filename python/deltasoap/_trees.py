"""Elements that no type describes: lxml's, or the standard library's if lxml is not installed."""

from __future__ import annotations

from typing import Any


def _etree() -> Any:
    try:
        from lxml import etree
    except ImportError:
        from xml.etree import ElementTree as etree  # type: ignore[no-redef]
    return etree


def parse(document: bytes) -> Any:
    """Return the root element of a document."""
    return _etree().fromstring(document)


def text(value: Any) -> bytes:
    """Return an element as a document: of lxml, of the standard library, bytes, or an object of
    :mod:`deltasoap.xsd` that knows its element."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if hasattr(value, "to_document"):
        document: bytes = value.to_document()
        return document
    if type(value).__module__.startswith("xml."):
        from xml.etree import ElementTree

        return ElementTree.tostring(value)
    if not hasattr(value, "tag"):
        raise TypeError(
            f"a wildcard takes an element of lxml or an AnyObject, not {type(value).__name__}: "
            "say which element it is, xsd.AnyObject(client.get_element(...), value)"
        )
    serialized: bytes = _etree().tostring(value)
    return serialized
