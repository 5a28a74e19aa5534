"""What the engine does in an event loop: it completes futures, and awaits functions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any


def complete(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    """End a future, unless it was cancelled."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


class Awaiting:
    """An awaitable, which the engine waits for on another thread.

    :param done: called with the result and None, or None and the exception
    """

    def __init__(
        self,
        awaitable: Awaitable[Any],
        loop: asyncio.AbstractEventLoop,
        done: Callable[[Any, BaseException | None], None],
    ) -> None:
        self._awaitable = awaitable
        self._loop = loop
        self._done = done
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Await it in the current context."""
        self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        self._task = self._loop.create_task(self._run())

    async def _run(self) -> None:
        try:
            result = await self._awaitable
        except BaseException as error:
            self._done(None, error)
            # No exception of a function ends the loop, but Ctrl-C is not the function's.
            is_main = threading.current_thread() is threading.main_thread()
            if isinstance(error, KeyboardInterrupt) and is_main:
                raise
        else:
            self._done(result, None)

    def cancel(self) -> None:
        """Cancel it, from another thread."""
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
