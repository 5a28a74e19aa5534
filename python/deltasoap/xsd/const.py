"""The special values of schemas, and the names in XSD's own namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltasoap import ns
from deltasoap._scalars import NIL, SKIP, Mark

if TYPE_CHECKING:
    from lxml import etree


#: No value was given.
NotSet = Mark("NotSet")
#: Write nothing for this element, not even an empty one.
SkipValue = SKIP
#: Write the element with `xsi:nil="true"`.
Nil = NIL


def xsi_ns(localname: str) -> etree.QName:
    """A name in the namespace of schema instances: `type`, `nil`."""
    from lxml import etree

    return etree.QName(ns.XSI, localname)


def xsd_ns(localname: str) -> etree.QName:
    """A name in the namespace of XML Schema."""
    from lxml import etree

    return etree.QName(ns.XSD, localname)
