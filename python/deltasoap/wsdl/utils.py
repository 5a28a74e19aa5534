"""Small helpers for addresses, and those of envelopes under the names that zeep has."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from deltasoap.envelope import etree_to_string, get_or_create_header

__all__ = ["etree_to_string", "get_or_create_header", "url_http_to_https"]


def url_http_to_https(value: str) -> str:
    """The same address over HTTPS; the port 80 of HTTP is dropped."""
    parts = urlsplit(value)
    if parts.scheme != "http":
        return value
    return urlunsplit(("https", parts.netloc.removesuffix(":80"), *parts[2:]))
