"""References of SOAP encoding: `href="#id"` for an element that stands elsewhere in the body."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from deltasoap import ns
from deltasoap.xsd.codec import qualified, set_type

if TYPE_CHECKING:
    from lxml import etree


def process_multiref(body: etree._Element) -> None:
    """Put what references point to in their places, and drop the elements pointed to."""
    targets = {node.get("id"): node for node in body.iterchildren("*") if node.get("id")}
    if not targets:
        return
    for node in list(body.iterchildren("*")):
        if node.get("id") not in targets:
            _fill(node, targets, frozenset())
    for node in targets.values():
        body.remove(node)


def _fill(
    node: etree._Element, targets: dict[str | None, etree._Element], inside: frozenset[str]
) -> None:
    href = node.get("href", "")
    name = href[1:] if href.startswith("#") else ""
    target = targets.get(name)
    # An object that contains itself stays a reference: a tree cannot hold it.
    if target is not None and name not in inside:
        _take_over(node, target)
        inside = inside | {name}
    for child in node.iterchildren("*"):
        _fill(child, targets, inside)


def _take_over(node: etree._Element, target: etree._Element) -> None:
    del node.attrib["href"]
    for name, value in target.attrib.items():
        if name != "id" and not name.endswith("}root"):
            node.set(name, value)
    node.text = target.text
    for child in target.iterchildren():
        copied = copy.deepcopy(child)
        node.append(copied)
        _keep_types(child, copied)


def _keep_types(child: etree._Element, copied: etree._Element) -> None:
    """Name the types again: lxml drops declarations of prefixes that only values use."""
    for original, made in zip(child.iter("*"), copied.iter("*"), strict=True):
        named = original.get(f"{{{ns.XSI}}}type")
        if named is not None:
            set_type(made, qualified(named, original.nsmap))
