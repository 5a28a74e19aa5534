"""Loading XML through a transport, under the rules of `Settings`."""

from __future__ import annotations

import os.path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from deltasoap.exceptions import (
    DTDForbidden,
    EntitiesForbidden,
    ExternalReferenceForbidden,
    XMLSyntaxError,
)
from deltasoap.settings import Settings

if TYPE_CHECKING:
    from lxml import etree


def parse_xml(
    content: str | bytes,
    transport: Any,
    base_url: str | None = None,
    settings: Settings | None = None,
) -> etree._Element:
    """The root element of a document. Entities stay unresolved, comments are left out."""
    from lxml import etree

    settings = settings or Settings()
    parser = etree.XMLParser(
        remove_comments=True,
        resolve_entities=False,
        no_network=True,
        recover=not settings.strict,
        huge_tree=settings.xml_huge_tree,
    )
    try:
        root = etree.fromstring(content, parser=parser, base_url=base_url)
    except etree.XMLSyntaxError as error:
        text = f"Invalid XML content received ({error.msg})"
        raise XMLSyntaxError(text, content=content) from error
    if root is None:
        raise XMLSyntaxError("Invalid XML content received (no element)", content=content)
    check_doctype(root, settings)
    return root


def check_doctype(root: etree._Element, settings: Settings) -> None:
    """Reject the document type that the settings forbid."""
    about = root.getroottree().docinfo
    if about.doctype and settings.forbid_dtd:
        raise DTDForbidden(about.doctype, about.system_url, about.public_id)
    if settings.forbid_entities:
        for dtd in (about.internalDTD, about.externalDTD):
            for entity in dtd.iterentities() if dtd is not None else ():
                raise EntitiesForbidden(entity.name, entity.content)


def load_external(
    url: str | IO[Any],
    transport: Any,
    base_url: str | None = None,
    settings: Settings | None = None,
    *,
    _initial: bool = False,
) -> etree._Element:
    """Load a document from a location, or from an open file."""
    settings = settings or Settings()
    if not isinstance(url, str):
        return parse_xml(url.read(), transport, base_url, settings)
    location = _permitted(url, base_url, settings, _initial)
    return parse_xml(transport.load(location), transport, base_url, settings)


async def load_external_async(
    url: str | IO[Any],
    transport: Any,
    base_url: str | None = None,
    settings: Settings | None = None,
    *,
    _initial: bool = False,
) -> etree._Element:
    """`load_external` over a transport whose `load` is a coroutine."""
    settings = settings or Settings()
    if not isinstance(url, str):
        return parse_xml(url.read(), transport, base_url, settings)
    location = _permitted(url, base_url, settings, _initial)
    return parse_xml(await transport.load(location), transport, base_url, settings)


def normalize_location(settings: Settings, url: str, base_url: str | None) -> str:
    """The absolute location, over HTTPS if its base on the same host is."""
    if not base_url:
        return url
    url = absolute_location(url, base_url)
    base, target = urlsplit(base_url), urlsplit(url)
    same_host = base.netloc == target.netloc and base.scheme != target.scheme
    if settings.force_https and same_host:
        return urlunsplit(("https", *target[1:]))
    return url


def absolute_location(location: str, base: str | None) -> str:
    """A location as seen from another document."""
    if location == base or _is_url(location):
        return location
    if base and _is_url(base):
        return urljoin(base, location)
    if base and not os.path.isabs(location):
        return os.path.realpath(os.path.join(os.path.dirname(base), location))
    return location


def is_relative_path(value: str) -> bool:
    """Whether a location is a path that depends on the current folder."""
    return not _is_url(value) and not os.path.isabs(value)


def _is_url(location: str) -> bool:
    return urlsplit(location).scheme in ("http", "https", "file")


def _permitted(url: str, base: str | None, settings: Settings, initial: bool) -> str:
    location = absolute_location(url, base) if base else url
    if not initial:
        check_external(location, settings)
    return location


def check_external(location: str, settings: Settings) -> None:
    """Reject a document from the network where the settings allow the WSDL alone."""
    if settings.forbid_external and urlsplit(location).scheme in ("http", "https"):
        raise ExternalReferenceForbidden(location)
