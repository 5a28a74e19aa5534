"""Values to XML and back: elements of lxml on this side, the engine on the other.

The engine writes and reads bytes. What it writes is grafted onto the caller's tree, so that
prefixes come out as lxml chooses them there.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.exceptions import ValidationError
from deltasoap.xsd.const import NotSet

if TYPE_CHECKING:
    from lxml import etree

logger = logging.getLogger("deltasoap.xsd")

_XSI_TYPE = f"{{{ns.XSI}}}type"
_XSI_NIL = f"{{{ns.XSI}}}nil"
_ENGINE_PREFIX = re.compile("ns([1-9][0-9]*)?")
_ARRAY_TYPE = f"{{{ns.SOAP_ENC_11}}}arrayType"


def encode(xsd_type: Any, node: etree._Element, value: Any, path: Any = None) -> None:
    """Write a value of a complex type into an element."""
    from lxml import etree

    contract, ref = home(xsd_type)
    try:
        values = {} if value is None else getattr(value, "__values__", value)
        written = contract.encode_type(ref, node.tag, values)
    except ValidationError as error:
        error.path = [*(path or [etree.QName(node).localname]), *error.path]
        raise
    graft(node, etree.fromstring(written))


def decode(xsd_type: Any, node: etree._Element, schema: Any) -> Any:
    """The value of a complex type in an element."""
    from lxml import etree

    contract, ref = home(xsd_type)
    tolerance = reading(schema.settings if schema is not None else None)
    value = contract.decode_type(ref, etree.tostring(node, with_tail=False), tolerance=tolerance)
    if schema is not None and not schema.settings.strict:
        _keep_unknown(xsd_type, node, value)
    return value


def _keep_unknown(xsd_type: Any, node: etree._Element, value: Any) -> None:
    """Add the elements that the type does not have, which the engine passed over."""
    from deltasoap.xsd.values import CompoundValue

    names = {part.name for _, part in xsd_type.elements}
    if not isinstance(value, CompoundValue) or None in names:
        return
    others = [each for each in node.iterchildren("*") if _local(each) not in names]
    if others:
        value["_raw_elements"] = others


def _local(node: etree._Element) -> str:
    return str(node.tag).rpartition("}")[2]


def reading(settings: Any) -> str:
    """How much the engine tolerates when it reads under these settings."""
    is_strict = settings is None or settings.strict
    return "lenient" if is_strict and not _ignores_order(settings) else "any_order"


def _ignores_order(settings: Any) -> bool:
    return settings is not None and settings.xsd_ignore_sequence_order


def home(xsd_type: Any) -> tuple[Any, Any]:
    """The contract that knows a type, and its reference there."""
    if xsd_type._known is None:
        from deltasoap.xsd.text import compiled

        xsd_type._kept_views, name = compiled(xsd_type)
        xsd_type._known = xsd_type._kept_views.contract, name
    return xsd_type._known  # type: ignore[no-any-return]


def graft(node: etree._Element, source: etree._Element) -> None:
    """Copy the attributes and content of an element into another one."""
    from lxml import etree

    node.text = source.text
    for name, text in source.attrib.items():
        # zeep does not write the type of arrays, which services can do without.
        if name not in (_XSI_TYPE, _ARRAY_TYPE):
            node.set(name, text)
    for child in source:
        if not isinstance(child.tag, str):
            continue
        # A prefix in a text or attribute keeps its meaning only where it is declared.
        grown = etree.SubElement(node, child.tag, nsmap=_prefixes_in_text(child, node))
        grown.tail = child.tail
        graft(grown, child)
    named = source.get(_XSI_TYPE)
    if named is not None:
        set_type(node, qualified(named, source.nsmap))


def _prefixes_in_text(element: etree._Element, parent: etree._Element) -> Any:
    attributes = ((name, text) for name, text in element.attrib.items() if name != _ARRAY_TYPE)
    texts = [element.text or "", *(text for _, text in attributes)]
    used = {text.split(":", 1)[0].strip() for text in texts if ":" in text}
    known, there = element.nsmap, parent.nsmap
    needed = {each for each in used if each in known and there.get(each) != known[each]}
    named = element.get(_XSI_TYPE)
    if named is not None:
        needed.discard(named.split(":", 1)[0].strip())
    # Elements of users keep their prefix; those that the engine makes up are left to lxml.
    prefix = element.prefix
    if prefix and not _ENGINE_PREFIX.fullmatch(prefix) and known[prefix] not in there.values():
        needed.add(prefix)
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
    """A name with a prefix as a QName; a name with an unknown prefix has no namespace."""
    from lxml import etree

    prefix, colon, local = text.strip().rpartition(":")
    namespace = nsmap.get(prefix if colon else None)
    return etree.QName(namespace, local) if namespace else etree.QName(local)


def any_document(value: Any) -> bytes:
    """The element for a value where anything may stand."""
    from lxml import etree

    root = etree.Element("any")
    write_any(root, value)
    return etree.tostring(root[0], with_tail=False)


def write_any(parent: etree._Element, value: Any) -> None:
    """Add what a wildcard's value stands for to a parent."""
    from lxml import etree

    from deltasoap.xsd.particles import Element
    from deltasoap.xsd.values import AnyObject, CompoundValue

    if value is None or value is NotSet:
        return
    if isinstance(value, etree._Element):
        parent.append(_copied(value))
    elif isinstance(value, AnyObject) and isinstance(value.xsd_elm, Element):
        items = value.value if isinstance(value.value, list) else [value.value]
        for item in items:
            value.xsd_elm.render(parent, item)
    elif isinstance(value, AnyObject):
        any_type_content(etree.SubElement(parent, "any"), value)
    elif isinstance(value, CompoundValue) and "_xsd_elm" in vars(value):
        value._xsd_elm.render(parent, value)
    elif isinstance(value, CompoundValue):
        value._xsd_type.render(etree.SubElement(parent, "any"), value, value._xsd_type)
    else:
        raise TypeError(f"{type(value).__name__} is no value that a wildcard takes")


def any_type_content(node: etree._Element, value: Any) -> None:
    """Write the value of an element whose type is `xsd:anyType`."""
    from deltasoap.xsd.types import AnyType

    AnyType().render(node, value)


def _copied(element: etree._Element) -> etree._Element:
    import copy

    made = copy.deepcopy(element)
    made.tail = None
    return made
