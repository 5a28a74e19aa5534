"""Clients whose messages go through the engine alone.

The engine writes a request from the arguments, sends it over its own HTTP, and reads the response;
lxml sees nothing of either. Lists of numbers are NumPy arrays, lists of flat structs are `Rows`.
What needs the message itself (plugins, WS-Security by objects of Python, other transports,
`raw_response`) goes the way of :mod:`deltasoap.zeep`, so that it works here as it does there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from deltasoap import client, transports
from deltasoap._engine import Engine, Http
from deltasoap.client import Factory
from deltasoap.envelope import etree_to_string
from deltasoap.proxy import AsyncOperationProxy, OperationProxy, ServiceProxy
from deltasoap.wsdl.messages import unwrapped

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["AsyncClient", "Client", "Factory", "AsyncHttpTransport", "HttpTransport"]


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
        return Http()

    def load(self, url: str) -> bytes:
        """Return a document of the WSDL, from a URL or a file."""
        if url.startswith(("http://", "https://")):
            with urlopen(url, timeout=self.load_timeout) as response:
                content: bytes = response.read()
                return content
        with open(url.removeprefix("file://"), "rb") as file:
            return file.read()

    def post(self, address: str, message: bytes, headers: Mapping[str, str]) -> HttpResponse:
        """Send a message that Python code has written."""
        return HttpResponse(
            *self._http.post(address, message, dict(headers), self.operation_timeout)
        )

    def post_xml(
        self, address: str, envelope: etree._Element, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send an envelope."""
        return self.post(address, etree_to_string(envelope), headers)

    def close(self) -> None:
        """Connections close when the client is no longer used."""


class AsyncHttpTransport(HttpTransport):
    """The HTTP of the engine, for calls that are awaited."""

    async def post(  # type: ignore[override]
        self, address: str, message: bytes, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send a message that Python code has written."""
        sent = await self._http.post_async(address, message, dict(headers), self.operation_timeout)
        return HttpResponse(*sent)

    async def post_xml(  # type: ignore[override]
        self, address: str, envelope: etree._Element, headers: Mapping[str, str]
    ) -> HttpResponse:
        """Send an envelope."""
        return await self.post(address, etree_to_string(envelope), headers)

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


class EngineCalls:
    """What both kinds of clients have: an engine, made with the first call."""

    wsdl: Any
    transport: Any
    settings: Any
    plugins: list[Any]
    wsse: Any

    @cached_property
    def engine(self) -> Engine:
        """The engine, which remembers messages to compare the next ones with."""
        return Engine(
            self.wsdl.contract,
            transport=self._post,
            tolerance="any_order",
            timeout=getattr(self.transport, "operation_timeout", None),
            columns=self._has_columns and self.settings.columns,
        )

    _has_columns = True

    @property
    def _post(self) -> Callable[..., Any] | None:
        """What sends for the engine: None for itself, else the transport's method `post`."""
        if isinstance(self.transport, HttpTransport):
            return None
        return _Post(self.transport)

    @property
    def stats(self) -> dict[str, int]:
        """Counters: requests, responses, and the bytes that did not have to be written or read."""
        counters: dict[str, int] = self.engine.stats
        return counters

    @property
    def _is_native(self) -> bool:
        """Whether nothing needs the messages themselves."""
        return (
            _sends_bytes(self.transport)
            and not self.plugins
            and not self.wsse
            and not self.settings.raw_response
        )


class _Post:
    """The method `post` of a transport, as the engine calls it."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def __call__(self, url: str, body: bytes, headers: dict[str, str]) -> Any:
        response = self._transport.post(url, body, headers)
        return self._awaited(response) if hasattr(response, "__await__") else _parts(response)

    async def _awaited(self, response: Any) -> Any:
        return _parts(await response)


def _parts(response: Any) -> tuple[int, list[tuple[str, str]], bytes]:
    return response.status_code, list(response.headers.items()), response.content


def _sends_bytes(transport: Any) -> bool:
    """Whether a transport writes envelopes as they are: its class does not override that."""
    written = getattr(type(transport), "post_xml", None)
    return written in _WRITERS


_WRITERS = (
    HttpTransport.post_xml,
    AsyncHttpTransport.post_xml,
    transports.Transport.post_xml,
    transports.AsyncTransport.post_xml,
)


class _NativeOperation(OperationProxy):
    """An operation whose calls go through the engine."""

    @cached_property
    def _operation(self) -> Any:
        """The operation as the engine knows it."""
        binding = self._proxy._binding
        return binding.wsdl.contract.operation(binding.name.text, self._op_name)

    @cached_property
    def _output(self) -> Any:
        """The message that gives the result its form, if header blocks come with it."""
        return self._proxy._binding.get(self._op_name).output

    def _options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords of the engine's call; takes the header blocks out of the arguments."""
        client = self._proxy._client
        headers = self._merge_soap_headers(kwargs.pop("_soapheaders", None))
        options: dict[str, Any] = {"address": self._proxy._binding_options["address"]}
        if headers:
            options["headers"] = self._blocks(headers)
        if client.settings.extra_http_headers:
            options["http_headers"] = dict(client.settings.extra_http_headers)
        return options

    def _blocks(self, headers: Any) -> list[Any]:
        """The header blocks as elements of lxml."""
        from lxml import etree

        header = etree.Element("Header")
        self._proxy._binding.get(self._op_name).input.write_blocks(header, headers)
        return [etree.tostring(block, with_tail=False) for block in header]

    def _result(self, reply: Any) -> Any:
        if reply is None:
            return None
        value = reply.body
        if isinstance(value, dict):
            value = next(iter(value.values())) if len(value) == 1 else self._output.body(**value)
            return value
        if self._operation.response_headers:
            return self._output.envelope(body=value, header=self._header(reply))
        return unwrapped(value)

    def _header(self, reply: Any) -> Any:
        names = {element: element.rpartition("}")[2] for element, _ in reply.headers}
        fields = {names[element]: value for element, value in reply.headers}
        known = {name for name, _ in self._output.header.type.elements}
        return self._output.header(**{name: fields[name] for name in fields if name in known})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Send a request with these arguments and return the value of the response."""
        client = self._proxy._client
        if not client._is_native or not hasattr(self._proxy._binding, "transport"):
            return super().__call__(*args, **kwargs)
        options = self._options(kwargs)
        return self._result(client.engine.call(self._operation, args, kwargs, **options))


class _AsyncNativeOperation(_NativeOperation):
    """An operation that is awaited."""

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Send a request with these arguments and return the value of the response."""
        client = self._proxy._client
        if not client._is_native or not hasattr(self._proxy._binding, "transport"):
            return await AsyncOperationProxy.__call__(self, *args, **kwargs)  # type: ignore[arg-type]
        options = self._options(kwargs)
        reply = await client.engine.call_async(self._operation, args, kwargs, **options)
        return self._result(reply)


class EngineService(ServiceProxy):
    _operation_class = _NativeOperation


class AsyncEngineService(ServiceProxy):
    _operation_class = _AsyncNativeOperation


class Client(EngineCalls, client.Client):
    """A client of a WSDL, which sends through the engine."""

    _default_transport = HttpTransport  # type: ignore[assignment]
    _service_class = EngineService


class AsyncClient(EngineCalls, client.AsyncClient):
    """A client whose operations are awaited, which sends through the engine."""

    _default_transport = AsyncHttpTransport  # type: ignore[assignment]
    _service_class = AsyncEngineService  # type: ignore[assignment]
