"""The engine's HTTP for messages of Python, and other transports for those of the engine."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deltasoap import transports
from deltasoap._engine import Http
from deltasoap._exchanges import Logged, connected, logger
from deltasoap._loading import load
from deltasoap.envelope import etree_to_string

if TYPE_CHECKING:
    from lxml import etree


class HttpTransport:
    """The HTTP of the engine.

    :param timeout: seconds to load a document of the WSDL
    :param operation_timeout: seconds for a call; None for no limit
    """

    def __init__(self, timeout: float = 300, operation_timeout: float | None = None) -> None:
        self.load_timeout = timeout
        self.operation_timeout = operation_timeout

    @cached_property
    def _http(self) -> Http:
        connected.add(self)
        return Http()

    def load(self, url: str) -> bytes:
        """Return a document of the WSDL, from a URL or a file."""
        if url.startswith(("http://", "https://")):
            logger.debug("Loading remote data from: %s", url)
            return load(url, self.load_timeout)
        with open(url.removeprefix("file://"), "rb") as file:
            return file.read()

    def post(self, address: str, message: bytes | str, headers: Mapping[str, str]) -> HttpResponse:
        """Send a message that Python code has written."""
        return self._send("POST", address, _octets(message), headers)

    def post_xml(
        self, address: str, envelope: etree._Element, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send an envelope."""
        return self.post(address, etree_to_string(envelope), headers)

    def get(self, address: str, params: Any, headers: Mapping[str, str]) -> HttpResponse:
        """Send a GET request, for the plain HTTP bindings of a WSDL."""
        return self._send("GET", _with_query(address, params), b"", headers)

    def _send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpResponse:
        with Logged(url) as logged:
            sent = self._http.send(method, url, body, dict(headers), self.operation_timeout)
            response = HttpResponse(*sent)
            logged.exchanged(response.status_code, len(body), len(response.content))
        return response

    def close(self) -> None:
        """Connections close when the client is no longer used."""


class AsyncHttpTransport(HttpTransport):
    """The HTTP of the engine, for calls that are awaited."""

    async def post(  # type: ignore[override]
        self, address: str, message: bytes | str, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send a message that Python code has written."""
        return await self._send("POST", address, _octets(message), headers)

    async def post_xml(  # type: ignore[override]
        self, address: str, envelope: etree._Element, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send an envelope."""
        return await self.post(address, etree_to_string(envelope), headers)

    async def get(  # type: ignore[override]
        self, address: str, params: Any, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send a GET request, for the plain HTTP bindings of a WSDL."""
        return await self._send("GET", _with_query(address, params), b"", headers)

    async def _send(  # type: ignore[override]
        self, method: str, url: str, body: bytes, headers: Mapping[str, str]
    ) -> HttpResponse:
        timeout = self.operation_timeout
        with Logged(url) as logged:
            sent = await self._http.send_async(method, url, body, dict(headers), timeout)
            response = HttpResponse(*sent)
            logged.exchanged(response.status_code, len(body), len(response.content))
        return response

    async def aclose(self) -> None:
        """Connections close when the client is no longer used."""


class HttpResponse:
    """A response of HTTP, with the names that requests and httpx have for its parts."""

    def __init__(self, status_code: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.status_code = status_code
        self.headers = _Headers(headers)
        self.content = content

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode("utf-8", "replace")


class _Headers(dict[str, str]):
    """Headers by their names in any case."""

    def __init__(self, headers: list[tuple[str, str]]) -> None:
        super().__init__((name.lower(), value) for name, value in headers)

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(name.lower())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(name.lower())

    def get(self, name: str, default: Any = None) -> Any:
        """Return a header, or the default if there is none."""
        return super().get(name.lower(), default)


def _octets(message: bytes | str) -> bytes:
    return message.encode() if isinstance(message, str) else message


def _with_query(address: str, params: Any) -> str:
    from urllib.parse import urlencode

    query = urlencode(params) if params and not isinstance(params, str) else params
    return f"{address}{'&' if '?' in address else '?'}{query}" if query else address


class Post:
    """The method `post` of a transport, as the engine calls it."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def __call__(self, url: str, body: bytes, headers: dict[str, str]) -> Any:
        response = self._transport.post(url, body, headers)
        return self._awaited(response) if hasattr(response, "__await__") else _parts(response)

    async def _awaited(self, response: Any) -> Any:
        return _parts(await response)

    def unowned(self) -> Callable[..., Any]:
        """A function that does the same as long as this object lives.

        Python's collector does not see the references of the engine: with a strong one, a client
        that its transport refers to would stay.
        """
        call = weakref.WeakMethod(self.__call__)
        return lambda *args: _called(call, *args)


def _called(call: weakref.WeakMethod[Any], *args: Any) -> Any:
    method = call()
    assert method is not None, "the client is gone"
    return method(*args)


def _parts(response: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    return response.status_code, list(response.headers.items()), response.content


def sends_bytes(transport: Any) -> bool:
    """Whether a transport writes envelopes as they are: its class does not override that."""
    written = getattr(type(transport), "post_xml", None)
    return written in _WRITERS


_WRITERS = (
    HttpTransport.post_xml,
    AsyncHttpTransport.post_xml,
    transports.Transport.post_xml,
    transports.AsyncTransport.post_xml,
)
