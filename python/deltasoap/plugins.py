"""Hooks that see each message before it is sent and after it is received."""

from __future__ import annotations

from collections import deque
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from lxml import etree

    Element = etree._Element
    Pair = tuple[Element, Any]


class Plugin:
    """The base of plugins: override `egress`, `ingress`, or both.

    Each returns the envelope and the HTTP headers, changed or new ones, or None for "as they are".
    """

    def ingress(self, envelope: Element, http_headers: Any, operation: Any) -> Pair | None:
        """A message came in."""
        return envelope, http_headers

    def egress(
        self,
        envelope: Element,
        http_headers: Any,
        operation: Any,
        binding_options: MutableMapping[str, Any],
    ) -> Pair | None:
        """A message is about to go out."""
        return envelope, http_headers


def apply_egress(
    client: Any,
    envelope: Element,
    http_headers: Any,
    operation: Any,
    binding_options: MutableMapping[str, Any],
) -> Pair:
    """Send a message through all plugins of a client."""
    for plugin in client.plugins:
        changed = plugin.egress(envelope, http_headers, operation, binding_options)
        if changed is not None:
            envelope, http_headers = changed
    return envelope, http_headers


def apply_ingress(client: Any, envelope: Element, http_headers: Any, operation: Any) -> Pair:
    """Receive a message through all plugins of a client."""
    for plugin in client.plugins:
        changed = plugin.ingress(envelope, http_headers, operation)
        if changed is not None:
            envelope, http_headers = changed
    return envelope, http_headers


class Recorded(TypedDict):
    """A message as `HistoryPlugin` keeps it."""

    envelope: Element
    http_headers: Any


class _Exchange(TypedDict):
    sent: Recorded
    received: Recorded | None


class HistoryPlugin(Plugin):
    """Keeps the last `maxlen` exchanges."""

    def __init__(self, maxlen: int = 1) -> None:
        self._buffer: deque[_Exchange] = deque(maxlen=maxlen)

    @property
    def last_sent(self) -> Recorded:
        """The last request; IndexError before the first."""
        return self._buffer[-1]["sent"]

    @property
    def last_received(self) -> Recorded | None:
        """The answer to the last request, None while there is none."""
        return self._buffer[-1]["received"]

    def ingress(self, envelope: Element, http_headers: Any, operation: Any) -> None:
        """Remember the answer beside its request."""
        self._buffer[-1]["received"] = {"envelope": envelope, "http_headers": http_headers}

    def egress(
        self,
        envelope: Element,
        http_headers: Any,
        operation: Any,
        binding_options: MutableMapping[str, Any],
    ) -> None:
        """Remember the request."""
        sent: Recorded = {"envelope": envelope, "http_headers": http_headers}
        self._buffer.append({"sent": sent, "received": None})
