"""Names and media types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from deltasoap.exceptions import XMLParseError
from deltasoap.ns import XSD

if TYPE_CHECKING:
    from lxml import etree

__all__ = [
    "as_qname",
    "detect_soap_env",
    "findall_multiple_ns",
    "get_base_class",
    "get_media_type",
    "get_version",
    "qname_attr",
]

_XML = "http://www.w3.org/XML/1998/namespace"


def qname_attr(
    node: etree._Element, attr_name: Any, target_namespace: str | None = None
) -> etree.QName | None:
    """The name in an attribute; None if there is no such attribute."""
    value = node.get(attr_name)
    return as_qname(value, node.nsmap, target_namespace) if value is not None else None


def as_qname(
    value: str, nsmap: Mapping[str | None, str], target_namespace: str | None = None
) -> etree.QName:
    """A name with a prefix as a QName; one without has the target or the default namespace."""
    from lxml import etree

    prefix, colon, local = value.strip().rpartition(":")
    if not colon:
        return etree.QName(target_namespace or nsmap.get(None), local)
    namespace = _XML if prefix == "xml" else nsmap.get(prefix)
    if not namespace:
        raise XMLParseError(f"No namespace defined for {prefix!r} ({value!r})")
    return etree.QName(namespace, local) if local else etree.QName(XSD, "anyType")


def findall_multiple_ns(
    node: etree._Element, name: str, namespace_sets: Iterable[Any]
) -> list[etree._Element]:
    """The elements of a path, whose prefixes are those of each of the maps in turn."""
    return [each for nsmap in namespace_sets for each in node.findall(name, namespaces=nsmap)]


def get_version() -> str:
    """The version of zeep whose names these are."""
    from deltasoap.zeep import __version__

    return __version__


def get_base_class(objects: Iterable[Any]) -> Any:
    """The most special class that all objects are of."""
    shared = None
    for levels in zip(*(type(each).__mro__[::-1] for each in objects), strict=False):
        if len(set(levels)) > 1:
            break
        shared = levels[0]
    return shared


def detect_soap_env(envelope: etree._Element) -> str | None:
    """The namespace of an envelope."""
    from lxml import etree

    return etree.QName(envelope).namespace


def get_media_type(value: str) -> str:
    """The media type in a Content-Type, without its parameters."""
    from email.message import Message

    message = Message()
    message["content-type"] = value
    return message.get_content_type()
