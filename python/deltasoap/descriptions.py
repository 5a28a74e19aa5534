"""The documents of a service's WSDL, which it serves again."""

from __future__ import annotations

import os
import posixpath
from typing import Any
from urllib.parse import urlsplit

from deltasoap import _engine

__all__ = ["load"]


def load(wsdl: str | os.PathLike[str] | bytes) -> tuple[Any, list[tuple[str, str]]]:
    """The contract of a WSDL, and the names and texts of its documents, the WSDL first."""
    if isinstance(wsdl, bytes):
        return _engine.Contract.parse(wsdl), [("", wsdl.decode("utf-8-sig"))]
    location = os.fspath(wsdl)
    if not location.startswith(("http://", "https://")):
        contract = _engine.Contract.load(location)
        return contract, _engine.files(contract) or []
    fetched: dict[str, bytes] = {}
    contract = _engine.Contract.load(location, load=lambda url: _fetched(url, fetched))
    return contract, _named({url: text.decode("utf-8-sig") for url, text in fetched.items()})


def _fetched(url: str, into: dict[str, bytes]) -> bytes:
    import urllib.request

    with urllib.request.urlopen(url, timeout=60) as response:
        into[url] = response.read()
    return into[url]


def _named(texts: dict[str, str]) -> list[tuple[str, str]]:
    """Documents by the names that they have for each other: relative to the folder of all of them,
    or their whole URL if one of them has it."""
    hosts = {(urlsplit(url).scheme, urlsplit(url).netloc) for url in texts}
    folder = posixpath.commonpath([posixpath.dirname(urlsplit(url).path) or "/" for url in texts])
    named: list[tuple[str, str]] = []
    for url, text in texts.items():
        parts = urlsplit(url)
        is_whole = len(hosts) > 1 or any(url in other for other in texts.values())
        query = f"?{parts.query}" if parts.query and named else ""
        relative = posixpath.relpath(parts.path, folder) + query
        named.append((url if is_whole and named else relative, text))
    return named
