"""Small things for values: plain data of them, and maps of Apache SOAP."""

from __future__ import annotations

import datetime
from typing import Any

from deltasoap import xsd
from deltasoap.xsd.values import CompoundValue

_MAP = "http://xml.apache.org/xml-soap"


def serialize_object(obj: Any, target_cls: Any = dict) -> Any:
    """A value as dicts and lists; `target_cls` is the class of the dicts."""
    if isinstance(obj, list):
        return [serialize_object(item, target_cls) for item in obj]
    if isinstance(obj, (dict, CompoundValue)):
        made = target_cls()
        for name in obj:
            made[name] = serialize_object(obj[name], target_cls)
        return made
    return _as_list(obj, target_cls)


def _as_list(obj: Any, target_cls: Any) -> Any:
    """The items of a view of the engine as a list; any other value as it is."""
    from deltasoap._engine import ColumnView, Rows

    is_view = isinstance(obj, (ColumnView, Rows))
    return serialize_object(obj.to_list(), target_cls) if is_view else obj


def create_xml_soap_map(values: dict[Any, Any]) -> Any:
    """A value of `{http://xml.apache.org/xml-soap}Map`."""
    pair = xsd.ComplexType(
        xsd.Sequence([xsd.Element("key", xsd.AnyType()), xsd.Element("value", xsd.AnyType())])
    )
    item = xsd.Element("item", pair, min_occurs=0, max_occurs="unbounded")
    kind = xsd.ComplexType(xsd.Sequence([item]), qname=_qname("Map"))
    pairs = [
        pair(xsd.AnyObject(guess_xsd_type(key), key), xsd.AnyObject(guess_xsd_type(value), value))
        for key, value in values.items()
    ]
    return kind(item=pairs)


def guess_xsd_type(obj: Any) -> Any:
    """The type for a Python value; what is not known is text."""
    for kind, made in _GUESSES:
        if isinstance(obj, kind):
            return made()
    return xsd.String()


# A bool is an int and a datetime a date: the narrower comes first.
_GUESSES: tuple[tuple[type, Any], ...] = (
    (bool, xsd.Boolean),
    (int, xsd.Integer),
    (float, xsd.Float),
    (datetime.datetime, xsd.DateTime),
    (datetime.date, xsd.Date),
)


def Nil() -> xsd.AnyObject:
    """Nil for an element of `xsd:anyType`."""
    return xsd.AnyObject(None, None)


def _qname(local: str) -> Any:
    from lxml import etree

    return etree.QName(_MAP, local)
