"""How documents are loaded and messages are sent: over requests, or httpx for asyncio.

`Transport` and `AsyncTransport` are the classes that users of zeep configure, override and mock.
A client without a transport sends through the engine's own HTTP instead, which is faster.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from deltasoap.envelope import etree_to_string
from deltasoap.exceptions import TransportError

if TYPE_CHECKING:
    import httpx
    import requests
    from lxml import etree

__all__ = ["AsyncTransport", "Transport"]


class DocumentCache(Protocol):
    """What a transport needs of a cache; those of `deltasoap.cache` are ready to use."""

    def get(self, url: str) -> bytes | str | None:
        """The document of this address, or None."""

    def add(self, url: str, content: bytes) -> None:
        """Keep a document."""


class Transport:
    """Loads documents and sends messages through a `requests.Session`.

    :param cache: keeps documents loaded over HTTP, see `deltasoap.cache`
    :param timeout: seconds for loading a document
    :param operation_timeout: seconds for a call; None waits without end
    :param session: a session of your own: proxies, certificates, authentication
    """

    #: The name in `User-Agent`; that of this package unless set.
    user_agent: str | None = None

    def __init__(
        self,
        cache: DocumentCache | None = None,
        timeout: float = 300,
        operation_timeout: float | None = None,
        session: requests.Session | None = None,
    ) -> None:
        self.cache = cache
        self.load_timeout = timeout
        self.operation_timeout = operation_timeout
        self.logger = logging.getLogger(__name__)
        self._close_session = session is None
        self.session = _new_session() if session is None else session
        self.session.headers["User-Agent"] = self._agent()

    def load(self, url: str) -> bytes:
        """The document at a URL or a path."""
        if not url:
            raise ValueError("No url given to load")
        scheme = urlsplit(url).scheme
        if scheme not in ("http", "https", "file"):
            return _read(os.path.expanduser(url))
        kept = self.cache.get(url) if self.cache else None
        if kept:
            return kept.encode() if isinstance(kept, str) else bytes(kept)
        content = self._load_file(url) if scheme == "file" else self._load_remote_data(url)
        if self.cache:
            self.cache.add(url, content)
        return content

    def get(self, address: str, params: Any, headers: Mapping[str, str]) -> requests.Response:
        """Send a GET request."""
        return self.session.get(
            address, params=params, headers=headers, timeout=self.operation_timeout
        )

    def post(self, address: str, message: Any, headers: Mapping[str, str]) -> Any:
        """Send a POST request."""
        self._log("HTTP Post to %s:\n%s", address, message)
        response = self.session.post(
            address, data=message, headers=headers, timeout=self.operation_timeout
        )
        status = f"{address} (status: {response.status_code})"
        self._log("HTTP Response from %s:\n%s", status, response.content)
        return response

    def post_xml(self, address: str, envelope: etree._Element, headers: Mapping[str, str]) -> Any:
        """Send an envelope; override this to write XML another way."""
        return self.post(address, etree_to_string(envelope), headers)

    @contextmanager
    def settings(self, timeout: float | None = None) -> Iterator[None]:
        """Another timeout for the calls of a block."""
        before = self.operation_timeout
        self.operation_timeout = timeout
        try:
            yield
        finally:
            self.operation_timeout = before

    def close(self) -> None:
        """Close the connections, unless the session was passed in."""
        if self._close_session:
            self.session.close()

    def _agent(self) -> str:
        if self.user_agent is not None:
            return self.user_agent
        from deltasoap.version import __version__

        return f"deltasoap/{__version__}"

    def _load_file(self, url: str) -> bytes:
        from urllib.request import url2pathname

        return _read(url2pathname(urlsplit(url).path))

    def _load_remote_data(self, url: str) -> bytes:
        self.logger.debug("Loading remote data from: %s", url)
        with closing(self.session.get(url, timeout=self.load_timeout)) as response:
            response.raise_for_status()
            return response.content

    def _log(self, text: str, subject: str, message: Any) -> None:
        if self.logger.isEnabledFor(logging.DEBUG):
            shown = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
            self.logger.debug(text, subject, shown)

    def __del__(self) -> None:
        if getattr(self, "_close_session", False):
            self.session.close()


class AsyncTransport(Transport):
    """Sends messages through an `httpx.AsyncClient`; documents are loaded synchronously.

    :param client: sends messages; one is made unless given
    :param wsdl_client: loads documents; one is made unless given
    """

    def __init__(
        self,
        client: httpx.AsyncClient | None = None,
        wsdl_client: httpx.Client | None = None,
        cache: DocumentCache | None = None,
        timeout: float = 300,
        operation_timeout: float | None = None,
        verify_ssl: Any = True,
        proxy: Any = None,
    ) -> None:
        httpx = _httpx()
        self.cache = cache
        self.load_timeout = timeout
        self.operation_timeout = operation_timeout
        self.logger = logging.getLogger(__name__)
        self._close_session = False
        self.wsdl_client = wsdl_client or httpx.Client(
            verify=verify_ssl, timeout=timeout, proxy=proxy
        )
        self.client = client or httpx.AsyncClient(
            verify=verify_ssl, timeout=operation_timeout, proxy=proxy
        )
        for each in (self.wsdl_client, self.client):
            each.headers["User-Agent"] = self._agent()

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    def close(self) -> None:
        """Close the connections that loaded documents."""
        self.wsdl_client.close()

    async def post(self, address: str, message: Any, headers: Mapping[str, str]) -> Any:
        """Send a POST request."""
        self._log("HTTP Post to %s:\n%s", address, message)
        response = await self.client.post(address, content=message, headers=headers)
        status = f"{address} (status: {response.status_code})"
        self._log("HTTP Response from %s:\n%s", status, response.read())
        return response

    async def post_xml(
        self, address: str, envelope: etree._Element, headers: Mapping[str, str]
    ) -> Any:
        """Send an envelope; override this to write XML another way."""
        return self.new_response(await self.post(address, etree_to_string(envelope), headers))

    async def get(  # type: ignore[override]
        self, address: str, params: Any, headers: Mapping[str, str]
    ) -> Any:
        """Send a GET request."""
        return self.new_response(await self.client.get(address, params=params, headers=headers))

    def new_response(self, response: httpx.Response) -> Any:
        """The response as the class of requests that callers expect, if requests is installed."""
        try:
            from requests import Response
        except ImportError:
            return response
        converted = Response()
        converted._content = response.read()
        converted.status_code = response.status_code
        converted.headers = response.headers  # type: ignore[assignment]
        converted.cookies = response.cookies  # type: ignore[assignment]
        converted.encoding = response.encoding
        return converted

    def _load_remote_data(self, url: str) -> bytes:
        self.logger.debug("Loading remote data from: %s", url)
        response = self.wsdl_client.get(url)
        content = response.read()
        if response.is_error:
            raise TransportError(
                f"Loading {url} failed with HTTP status {response.status_code}",
                status_code=response.status_code,
                content=content,
            )
        return content


def _new_session() -> requests.Session:
    try:
        import requests
    except ImportError as error:
        raise RuntimeError(
            "Transport needs requests: install deltasoap[zeep], or pass no transport"
        ) from error
    return requests.Session()


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise RuntimeError(
            "AsyncTransport needs httpx: install deltasoap[zeep], or pass no transport"
        ) from error
    return httpx


def _read(path: str) -> bytes:
    with closing(io.open(path, "rb")) as file:  # noqa: UP020 (users' tests patch io.open)
        return file.read()
