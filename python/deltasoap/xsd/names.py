"""The names of values: unique among siblings, and readable in signatures."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from deltasoap import ns

if TYPE_CHECKING:
    from lxml import etree


class Numbered:
    """`_value_1`, `_value_2`, ... for what has no name of its own."""

    def __init__(self, prefix: str = "_value_") -> None:
        self._prefix = prefix
        self._count = 0

    def next(self) -> str:
        """The next name."""
        self._count += 1
        return f"{self._prefix}{self._count}"


class Unique:
    """`item`, `item__1`, `item__2`, ... for elements of one name."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def name(self, wanted: str) -> str:
        """The name for the next value that wants this one."""
        seen = self._seen[wanted]
        self._seen[wanted] += 1
        return f"{wanted}__{seen}" if seen else wanted


def create_prefixed_name(qname: etree.QName | None, schema: Any) -> str | None:
    """A name with the prefix that the schema gives its namespace, else in full."""
    if qname is None:
        return None
    if not qname.namespace:
        return qname.localname
    if schema is not None:
        prefix = schema.get_shorthand_for_ns(qname.namespace)
    else:
        prefix = ns.NAMESPACE_TO_PREFIX.get(qname.namespace)
    return f"{prefix}:{qname.localname}" if prefix else qname.text


class Name:
    """A qualified name where lxml is not installed: what this package uses of `etree.QName`."""

    def __init__(self, namespace: str | None, localname: str | None = None) -> None:
        text = localname if localname is not None else namespace or ""
        if localname is not None and namespace:
            text = f"{{{namespace}}}{localname}"
        self.text = text
        uri, _, self.localname = text.rpartition("}")
        self.namespace = uri[1:] or None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Name({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return self.text == str(other)

    def __hash__(self) -> int:
        return hash(self.text)


@cache
def qname_class() -> Any:
    """The class of names: lxml's, if it is installed."""
    try:
        from lxml import etree
    except ImportError:
        return Name
    return etree.QName


def as_name(name: Any) -> etree.QName:
    """A name given as text or as a QName."""
    made: etree.QName = name if isinstance(name, qname_class()) else qname_class()(name)
    return made


def quoteattr(text: str) -> str:
    """A text as the value of an attribute, in quotes. (`xml.sax.saxutils` imports much.)"""
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(sign, entity)
    return f'"{text}"'
