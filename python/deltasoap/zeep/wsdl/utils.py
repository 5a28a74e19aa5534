"""Envelopes and addresses."""

from deltasoap.wsdl.utils import etree_to_string, get_or_create_header, url_http_to_https

__all__ = [
    "etree_to_string",
    "get_or_create_header",
    "url_http_to_https",
]
