"""Clients with the transports of zeep."""

from __future__ import annotations

from deltasoap import client, transports
from deltasoap.client import Factory
from deltasoap.zeep.transports import AsyncTransport, Transport

__all__ = ["AsyncClient", "CachingClient", "Client", "Factory"]


class Client(client.Client):
    """A client that sends through requests."""

    _default_transport: type[transports.Transport] = Transport


class AsyncClient(Client, client.AsyncClient):
    """A client whose operations are awaited, which sends through httpx."""

    _default_transport = AsyncTransport


class CachingClient(Client, client.CachingClient):
    """A client that keeps documents in a file."""
