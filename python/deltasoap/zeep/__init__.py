"""The modules and names of zeep over this package's engine.

    import deltasoap.zeep as zeep

and a script for zeep runs as it is: requests and httpx send, values hold Python lists, and
plugins, WS-Security objects and caches of your own work on elements of lxml.
"""

from deltasoap.xsd.values import AnyObject
from deltasoap.zeep import exceptions, helpers, loader, ns, proxy, utils, wsdl, xsd
from deltasoap.zeep.client import AsyncClient, CachingClient, Client
from deltasoap.zeep.plugins import Plugin
from deltasoap.zeep.settings import Settings
from deltasoap.zeep.transports import Transport

#: The version of zeep whose interface this is.
__version__ = "4.3.3"
__all__ = [
    "AnyObject",
    "AsyncClient",
    "CachingClient",
    "Client",
    "Plugin",
    "Settings",
    "Transport",
    "exceptions",
    "helpers",
    "loader",
    "ns",
    "proxy",
    "utils",
    "wsdl",
    "xsd",
]
