"""The special values of schemas, and the names in XSD's own namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltasoap import ns
from deltasoap._scalars import NIL, SKIP, Mark
from deltasoap.xsd.names import qname_class

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
    made: etree.QName = qname_class()(ns.XSI, localname)
    return made


def xsd_ns(localname: str) -> etree.QName:
    """A name in the namespace of XML Schema."""
    made: etree.QName = qname_class()(ns.XSD, localname)
    return made
