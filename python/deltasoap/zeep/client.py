"""Clients with the transports of zeep."""

from __future__ import annotations

from typing import Any

from deltasoap import client
from deltasoap.client import Factory
from deltasoap.zeep.transports import AsyncTransport, Transport

__all__ = ["AsyncClient", "CachingClient", "Client", "Factory"]


class Client(client.Client):
    """A client that sends through requests."""

    _default_transport: Any = Transport
    _has_columns = False

    @property
    def _uses_engine(self) -> bool:
        # Messages are written as zeep writes them, to the prefix, and malformed responses that zeep
        # reads are read: both goes through lxml. The engine converts the values all the same.
        return False


class AsyncClient(Client, client.AsyncClient):
    """A client whose operations are awaited, which sends through httpx."""

    _default_transport = AsyncTransport


class CachingClient(Client, client.CachingClient):
    """A client that keeps documents in a file."""
