"""Clients with the transports of zeep, whose values are those of zeep.

Their messages go through the engine where nothing needs to see them: no plugin, no WS-Security, no
transport that writes them itself.
"""

from __future__ import annotations

from deltasoap import client, native, transports
from deltasoap.client import Factory
from deltasoap.zeep.transports import AsyncTransport, Transport

__all__ = ["AsyncClient", "CachingClient", "Client", "Factory"]


class Client(native.EngineCalls, client.Client):
    """A client that sends through requests."""

    _default_transport: type[transports.Transport] = Transport
    _service_class = native.EngineService
    _has_columns = False


class AsyncClient(Client, client.AsyncClient):
    """A client whose operations are awaited, which sends through httpx."""

    _default_transport = AsyncTransport
    _service_class = native.AsyncEngineService  # type: ignore[assignment]


class CachingClient(Client, client.CachingClient):
    """A client that keeps documents in a file."""
