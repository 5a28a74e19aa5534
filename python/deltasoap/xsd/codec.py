"""Values to XML and back: elements of lxml on this side, the engine on the other.

The engine writes and reads bytes. What it writes is grafted onto the caller's tree, so that
prefixes come out as lxml chooses them there.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.xsd.const import NotSet
from deltasoap.xsd.values import AnyObject, CompoundValue

if TYPE_CHECKING:
    from lxml import etree

logger = logging.getLogger("deltasoap.xsd")

_XSI_TYPE = f"{{{ns.XSI}}}type"
_XSI_NIL = f"{{{ns.XSI}}}nil"


def encode(xsd_type: Any, node: etree._Element, value: Any, path: Any = None) -> None:
    """Write a value of a complex type into an element."""
    from lxml import etree

    contract, ref = home(xsd_type)
    written = contract.encode_type(ref, node.tag, {} if value is None else value)
    graft(node, etree.fromstring(written))


def decode(xsd_type: Any, node: etree._Element, schema: Any) -> Any:
    """The value of a complex type in an element."""
    from lxml import etree

    contract, ref = home(xsd_type)
    settings = schema.settings if schema is not None else None
    return contract.decode_type(ref, etree.tostring(node, with_tail=False), **reading(settings))


def reading(settings: Any) -> dict[str, bool]:
    """The engine's options for reading under these settings."""
    if settings is None:
        return {}
    return {"strict": settings.strict, "ignore_order": settings.xsd_ignore_sequence_order}


def home(xsd_type: Any) -> tuple[Any, Any]:
    """The contract that knows a type, and its reference there."""
    if xsd_type._known is None:
        from deltasoap.xsd.text import compiled

        xsd_type._known = compiled(xsd_type)
    return xsd_type._known  # type: ignore[no-any-return]


def graft(node: etree._Element, source: etree._Element) -> None:
    """Copy the attributes and content of an element into another one."""
    from lxml import etree

    node.text = source.text
    _copy_attributes(node, source)
    for child in source:
        if not isinstance(child.tag, str):
            continue
        # A prefix in a text or attribute keeps its meaning only where it is declared.
        grown = etree.SubElement(node, child.tag, nsmap=_prefixes_in_text(child, node))
        grown.tail = child.tail
        graft(grown, child)


def _copy_attributes(node: etree._Element, source: etree._Element) -> None:
    for name, text in source.attrib.items():
        if name != _XSI_TYPE:
            node.set(name, text)
    named = source.get(_XSI_TYPE)
    if named is not None:
        set_type(node, qualified(named, source.nsmap))


def _prefixes_in_text(element: etree._Element, parent: etree._Element) -> Any:
    texts = [element.text or "", *element.attrib.values()]
    used = {text.split(":", 1)[0].strip() for text in texts if ":" in text}
    known, there = element.nsmap, parent.nsmap
    needed = {each for each in used if each in known and there.get(each) != known[each]}
    named = element.get(_XSI_TYPE)
    if named is not None:
        needed.discard(named.split(":", 1)[0].strip())
    return {each: known[each] for each in needed} or None


def set_nil(node: etree._Element) -> None:
    """Mark an element as nil."""
    node.set(_XSI_NIL, "true")


def is_nil(node: etree._Element) -> bool:
    """Whether an element is marked as nil."""
    return node.get(_XSI_NIL) in ("true", "1")


def set_type(node: etree._Element, qname: Any) -> None:
    """Name the type of an element."""
    node.set(_XSI_TYPE, qname)


def named_type(node: etree._Element, schema: Any) -> Any:
    """The type that an element names, if the schema has it."""
    text = node.get(_XSI_TYPE)
    if text is None or schema is None:
        return None
    return schema.get_type(qualified(text, node.nsmap), fail_silently=True)


def qualified(text: str, nsmap: Any) -> Any:
    """A name with a prefix as a QName; an unknown prefix counts as part of the name's namespace."""
    from lxml import etree

    prefix, colon, local = text.strip().rpartition(":")
    namespace = nsmap.get(prefix if colon else None)
    return etree.QName(namespace, local) if namespace else etree.QName(local)


class Wildcards:
    """The two directions of `xsd:any` and `xsd:anyType`, which the engine asks for.

    :param lookup: the schema in which elements and types are looked up
    """

    def __init__(self, lookup: Any) -> None:
        self._lookup = lookup

    def read(self, qname: str, element: bytes) -> Any:
        """The value of an element where anything may stand: of a known element, or as it is."""
        from lxml import etree

        from deltasoap.exceptions import LookupError, NamespaceError

        node = etree.fromstring(element)
        schema = self._lookup()
        named = named_type(node, schema)
        if named is not None:
            return named.parse_xmlelement(node, schema)
        try:
            return schema.get_element(qname).parse(node, schema)
        except (LookupError, NamespaceError):
            return node

    def read_content(self, qname: str, element: bytes) -> Any:
        """The value of an element of `xsd:anyType`."""
        from lxml import etree

        from deltasoap.xsd.types import AnyType

        return AnyType().parse_xmlelement(etree.fromstring(element), self._lookup())

    def write(self, value: Any) -> bytes:
        """The element, or elements, for a value where anything may stand."""
        from lxml import etree

        root = etree.Element("any")
        write_any(root, value)
        return b"".join(etree.tostring(child, with_tail=False) for child in root)

    def write_content(self, value: Any, qname: str) -> bytes:
        """An element of `xsd:anyType` for a value."""
        from lxml import etree

        from deltasoap.xsd.particles import Element
        from deltasoap.xsd.types import AnyType

        root = etree.Element("any")
        Element(qname, AnyType()).render(root, value)
        return etree.tostring(root[0], with_tail=False)


def write_any(parent: etree._Element, value: Any) -> None:
    """Add what a wildcard's value stands for to a parent."""
    from lxml import etree

    if value is None or value is NotSet:
        return
    if isinstance(value, etree._Element):
        parent.append(_copied(value))
    elif isinstance(value, AnyObject):
        items = value.value if isinstance(value.value, list) else [value.value]
        for item in items:
            value.xsd_elm.render(parent, item)
    elif isinstance(value, CompoundValue) and "_xsd_elm" in vars(value):
        value._xsd_elm.render(parent, value)
    else:
        raise TypeError(
            f"a wildcard takes an element of lxml or an AnyObject, not {type(value).__name__}: "
            "say which element it is, xsd.AnyObject(client.get_element(...), value)"
        )


def _copied(element: etree._Element) -> etree._Element:
    import copy

    made = copy.deepcopy(element)
    made.tail = None
    return made
