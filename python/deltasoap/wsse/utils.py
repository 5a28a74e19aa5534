"""Parts of security headers."""

from __future__ import annotations

import datetime
import uuid
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.envelope import get_or_create_header

if TYPE_CHECKING:
    from lxml import etree

NSMAP = {"wsse": ns.WSSE, "wsu": ns.WSU}


def __getattr__(name: str) -> Any:
    # The makers of elements need lxml, which is imported where it is used.
    if name in ("WSSE", "WSU"):
        from lxml.builder import ElementMaker

        prefix = name.lower()
        return ElementMaker(namespace=NSMAP[prefix], nsmap={prefix: NSMAP[prefix]})
    if name == "ID_ATTR":
        from lxml import etree

        return etree.QName(ns.WSU, "Id")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_security_header(doc: etree._Element) -> etree._Element:
    """The `wsse:Security` of an envelope, made if missing."""
    from lxml import etree

    header = get_or_create_header(doc)
    security = header.find(f"{{{ns.WSSE}}}Security")
    if security is None:
        security = etree.SubElement(header, f"{{{ns.WSSE}}}Security", nsmap={"wsse": ns.WSSE})
    return security


def get_timestamp(
    timestamp: datetime.datetime | None = None, zulu_timestamp: bool | None = None
) -> str:
    """A time in UTC to the second, which ends in `Z` if `zulu_timestamp`, else in `+00:00`."""
    moment = timestamp or datetime.datetime.now(datetime.timezone.utc)
    text = moment.replace(tzinfo=datetime.timezone.utc, microsecond=0).isoformat()
    return text.replace("+00:00", "Z") if zulu_timestamp else text


def get_unique_id() -> str:
    """An identifier for an element of a message."""
    return f"id-{uuid.uuid4()}"


def ensure_id(node: etree._Element) -> str:
    """The `wsu:Id` of an element, made if missing."""
    attribute = f"{{{ns.WSU}}}Id"
    if not node.get(attribute):
        node.set(attribute, get_unique_id())
    return str(node.get(attribute))
