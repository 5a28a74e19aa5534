"""SOAP for Python: clients that read a WSDL, over an engine in Rust.

    import deltasoap

    client = deltasoap.Client("https://example.com/shop.wsdl")
    print(client.service.Price(article="4711"))

Scripts for zeep import `deltasoap.zeep` instead.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltasoap._engine import ColumnView, Rows
    from deltasoap.client import AsyncClient, CachingClient, Client
    from deltasoap.context import Attachment, Context
    from deltasoap.exceptions import Fault
    from deltasoap.http import HttpTransport
    from deltasoap.plugins import Plugin
    from deltasoap.service import Service
    from deltasoap.settings import Settings
    from deltasoap.transports import AsyncTransport, Transport
    from deltasoap.version import __version__
    from deltasoap.xsd.values import AnyObject

__all__ = [
    "AnyObject",
    "AsyncClient",
    "AsyncTransport",
    "Attachment",
    "CachingClient",
    "Client",
    "ColumnView",
    "Context",
    "Fault",
    "HttpTransport",
    "Plugin",
    "Rows",
    "Service",
    "Settings",
    "Transport",
    "__version__",
]

# Modules are imported when a name is first used, so that importing the package takes no time.
_HOMES = {
    "AnyObject": "xsd.values",
    "ColumnView": "_engine",
    "Rows": "_engine",
    "AsyncClient": "client",
    "AsyncTransport": "transports",
    "Attachment": "context",
    "CachingClient": "client",
    "Client": "client",
    "Context": "context",
    "Fault": "exceptions",
    "HttpTransport": "http",
    "Plugin": "plugins",
    "Service": "service",
    "Settings": "settings",
    "Transport": "transports",
    "__version__": "version",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
