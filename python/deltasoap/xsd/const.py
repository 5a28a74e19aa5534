"""The special values of schemas, and the names in XSD's own namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltasoap import ns

if TYPE_CHECKING:
    from lxml import etree


class _Marker:
    """A value that is only ever compared by identity, and stays itself in copies and pickles."""

    def __init__(self, name: str) -> None:
        self.__value__ = name

    def __repr__(self) -> str:
        return self.__value__

    def __copy__(self) -> _Marker:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> _Marker:
        return self

    def __reduce__(self) -> str:
        return self.__value__


#: No value was given.
NotSet = _Marker("NotSet")
#: Write nothing for this element, not even an empty one.
SkipValue = _Marker("SkipValue")
#: Write the element with `xsi:nil="true"`.
Nil = _Marker("Nil")


def xsi_ns(localname: str) -> etree.QName:
    """A name in the namespace of schema instances: `type`, `nil`."""
    from lxml import etree

    return etree.QName(ns.XSI, localname)


def xsd_ns(localname: str) -> etree.QName:
    """A name in the namespace of XML Schema."""
    from lxml import etree

    return etree.QName(ns.XSD, localname)
