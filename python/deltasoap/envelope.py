"""Envelopes as elements of lxml: what plugins, WS-Security and bindings share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree


def etree_to_string(node: etree._Element) -> bytes:
    """An element as the document that is sent."""
    from lxml import etree

    return etree.tostring(node, xml_declaration=True, encoding="utf-8")


def get_or_create_header(envelope: etree._Element) -> etree._Element:
    """The header of an envelope, made if missing."""
    from lxml import etree

    name = f"{{{detect_soap_env(envelope)}}}Header"
    header = envelope.find(name)
    if header is None:
        header = etree.Element(name)
        envelope.insert(0, header)
    return header


def detect_soap_env(envelope: etree._Element) -> str:
    """The namespace of an envelope, which is its version of SOAP."""
    from lxml import etree

    return etree.QName(envelope).namespace or ""
