"""What the engine's exchanges need around them: lines in the log, and forks.

The logger is that of `deltasoap.transports`, so that the same setting shows the messages of
requests and httpx.
"""

from __future__ import annotations

import logging
import os
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltasoap._engine import Engine

logger = logging.getLogger("deltasoap.transports")


def call(client: Any, **options: Any) -> Any:
    """Call an operation through the engine of a client."""
    if not _is_logged(client):
        return client._engine.call(**options)
    with Logged(options["address"], options["operation"].name, client._engine) as logged:
        reply = client._engine.call(**options)
        logged.answered(reply)
    return reply


async def call_async(client: Any, **options: Any) -> Any:
    """Call an operation through the engine of a client, in a coroutine."""
    if not _is_logged(client):
        return await client._engine.call_async(**options)
    with Logged(options["address"], options["operation"].name, client._engine) as logged:
        reply = await client._engine.call_async(**options)
        logged.answered(reply)
    return reply


def _is_logged(client: Any) -> bool:
    """Whether calls are logged here; transports do that themselves."""
    return client._transport is None and logger.isEnabledFor(logging.DEBUG)


class Logged:
    """Writes a line about an exchange into the log: where to, what, how much, and how long.

    The bytes of the engine's calls are differences of the client's counters, which calls at the
    same time share.
    """

    def __init__(self, address: str, operation: str = "", engine: Engine | None = None) -> None:
        self._address = address
        self._operation = operation
        self._engine = engine
        self._status: int | None = None
        self._bytes = (0, 0)

    def __enter__(self) -> Logged:
        self._before = self._counted()
        self._start = time.perf_counter()
        return self

    def exchanged(self, status: int, sent: int, received: int) -> None:
        """A response came to a message of Python."""
        self._status = status
        self._bytes = (sent, received)

    def answered(self, reply: Any) -> None:
        """A response came to the engine."""
        self._status = reply.status if reply is not None else None

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if not logger.isEnabledFor(logging.DEBUG):
            return
        took = 1000 * (time.perf_counter() - self._start)
        if self._engine is not None:
            sent, received = self._counted()
            self._bytes = (sent - self._before[0], received - self._before[1])
        parts = [f"HTTP Post to {self._address}", *filter(None, [self._operation])]
        status = self._status or getattr(error, "status_code", None)
        parts += [f"status {status}"] if status else []
        # Without an answer, nobody knows how much of the request has left.
        is_lost = error is not None and not status and not self._bytes[1]
        counted = f"{self._bytes[0]} bytes sent, {self._bytes[1]} received"
        parts += ["no answer" if is_lost else counted, f"{took:.1f} ms"]
        parts += [f"{type(error).__name__}: {error}"] if error is not None else []
        logger.debug("%s", ", ".join(parts))

    def _counted(self) -> tuple[int, int]:
        if self._engine is None:
            return 0, 0
        stats = self._engine.stats
        return stats["bytes_sent"], stats["bytes_received"]


#: Clients and transports that have connections of the engine.
connected: weakref.WeakSet[Any] = weakref.WeakSet()

#: What a parent process had. Its sockets are shared, so that nothing of it is used or closed.
_of_parent: list[Any] = []


def _disconnect() -> None:
    """In a forked process, connect anew: the engine's threads are in the parent only."""
    for each in list(connected):
        _of_parent.extend(each.__dict__.pop(name, None) for name in ("_engine", "_http"))
    connected.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disconnect)
