"""Transports that services see as zeep."""

from __future__ import annotations

from deltasoap import transports

__all__ = ["AsyncTransport", "Transport"]

# Some services answer by the client's name.
_USER_AGENT = "Zeep/4.3.3 (www.python-zeep.org)"


class Transport(transports.Transport):
    """Sends through a `requests.Session`."""

    user_agent = _USER_AGENT


class AsyncTransport(transports.AsyncTransport, Transport):
    """Sends through an `httpx.AsyncClient`."""

    user_agent = _USER_AGENT
