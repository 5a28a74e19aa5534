"""Loading the documents of a WSDL over the network, without a library for HTTP."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from deltasoap import exceptions


def load(url: str, timeout: float) -> bytes:
    """Return the document at a URL of HTTP."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=timeout) as response:
            content: bytes = response.read()
            return content
    except HTTPError as error:
        text = f"Loading {url} failed with HTTP status {error.code} ({error.reason})"
        text += "; check the URL, and whether it needs a login"
        raise exceptions.TransportError(text, error.code, error.read()) from error
    except (OSError, HTTPException) as error:
        raise _unreachable(url, timeout, error) from error


def _unreachable(url: str, timeout: float, error: Exception) -> exceptions.TransportError:
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return exceptions.Timeout(
            f"Loading {url} took longer than {timeout:g} s; "
            "HttpTransport(timeout=...) sets the limit"
        )
    return exceptions.ConnectionError(f"Loading {url} failed: {reason}")


class Progress:
    """Shows the documents of the network that are loaded in a block.

    :param show: True for a bar on a terminal, or a function of the URL
    """

    def __init__(self, show: bool | Callable[[str], object]) -> None:
        self._show = show
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if self._show is True:
            self._bar = _bar()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, url: str) -> None:
        """Show the next document."""
        if not url.startswith(("http://", "https://")):
            return
        if callable(self._show):
            self._show(url)
        if self._bar is not None:
            self._bar.set_postfix_str(url.rpartition("/")[2], refresh=False)
            self._bar.update()


def _bar() -> Any:
    """A bar of tqdm; None without tqdm or a terminal."""
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(desc="WSDL", unit=" documents", leave=False)
