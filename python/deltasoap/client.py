"""Clients of the services that a WSDL describes."""

from __future__ import annotations

from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from deltasoap._exchanges import connected
from deltasoap.proxy import AsyncServiceProxy, ServiceProxy
from deltasoap.settings import Settings
from deltasoap.wsdl.document import Document

if TYPE_CHECKING:
    from lxml import etree

    from deltasoap.wsdl.definitions import Port, Service

__all__ = ["AsyncClient", "CachingClient", "Client", "Factory"]


class Factory:
    """The types, or elements, of one namespace as attributes."""

    def __init__(self, types: Any, kind: str, namespace: str) -> None:
        self._find = getattr(types, f"get_{kind}")
        is_known = namespace in types.namespaces
        self._ns = namespace if is_known else types.get_ns_prefix(namespace)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        return self[key]

    def __getitem__(self, key: str) -> Any:
        return self._find(f"{{{self._ns}}}{key}")


class Client:
    """A client of a WSDL.

    :param wsdl: a URL, a path, an open file, or a `Document`
    :param wsse: WS-Security for requests and responses, see `deltasoap.wsse`
    :param transport: loads documents and sends messages, see `deltasoap.transports`; without one,
        without plugins and without `wsse`, the engine does, which is faster
    :param service_name: the service of `client.service`; the first unless given
    :param port_name: the port of `client.service`; the first unless given
    :param plugins: see `deltasoap.plugins`
    :param settings: see `deltasoap.Settings`
    :param timeout: seconds for a call; None waits without end. A transport of your own has its own
        limit, `operation_timeout`
    :param columns: lists of numbers arrive as arrays of NumPy, lists of flat structs as tables
    :param differential: remember earlier messages, and do only what changed since
    """

    #: The transport of clients that are given none; None leaves it to the engine.
    _default_transport: Any = None
    #: Whether lists are columns unless a client is told otherwise.
    _has_columns = True
    _service_class: type[ServiceProxy] = ServiceProxy

    def __init__(
        self,
        wsdl: str | IO[Any] | Document,
        wsse: Any = None,
        transport: Any = None,
        service_name: str | None = None,
        port_name: str | None = None,
        plugins: list[Any] | None = None,
        settings: Settings | None = None,
        *,
        timeout: float | None = None,
        columns: bool | None = None,
        differential: bool = True,
    ) -> None:
        if not wsdl:
            raise ValueError("No URL given for the wsdl")
        if transport is not None and timeout is not None:
            raise ValueError(
                "a client with a transport waits as long as the transport does: "
                "pass the limit to it, Transport(operation_timeout=...)"
            )
        self.settings = settings or Settings()
        if transport is None and self._default_transport is not None:
            transport = self._default_transport(operation_timeout=timeout)
        self._transport = transport
        self._engine_options: dict[str, Any] = {
            "timeout": timeout,
            "columns": self._has_columns if columns is None else columns,
            "differential": differential,
        }
        if not isinstance(wsdl, Document):
            wsdl = Document(wsdl, transport, settings=self.settings)
        self.wsdl: Document = wsdl
        self.wsse = wsse
        self.plugins = plugins if plugins is not None else []
        self._default_service: ServiceProxy | None = None
        self._default_service_name = service_name
        self._default_port_name = port_name
        self._default_soapheaders: Any = None

    @property
    def transport(self) -> Any:
        """What sends messages that the engine does not send."""
        return self._transport if self._transport is not None else self._own_transport

    @cached_property
    def _own_transport(self) -> Any:
        from deltasoap.http import HttpTransport

        return HttpTransport(operation_timeout=self._engine_options["timeout"])

    @cached_property
    def _engine(self) -> Any:
        from deltasoap._engine import Engine

        connected.add(self)
        if self._transport is None:
            return Engine(self.wsdl.contract, tolerance="any_order", **self._engine_options)
        from deltasoap.http import Post

        timeout = getattr(self._transport, "operation_timeout", None)
        self._post = Post(self._transport)
        own: dict[str, Any] = {"timeout": timeout, "transport": self._post.unowned()}
        options = {**self._engine_options, **own}
        return Engine(self.wsdl.contract, tolerance="any_order", **options)

    @property
    def _uses_engine(self) -> bool:
        """Whether messages go through the engine: nobody wants to see them."""
        if self.plugins or self.wsse or self.settings.raw_response:
            return False
        return self._transport is None or self._writes_bytes

    @cached_property
    def _writes_bytes(self) -> bool:
        """Whether the transport sends envelopes as they are."""
        from deltasoap.http import sends_bytes

        return sends_bytes(self._transport)

    @property
    def stats(self) -> dict[str, int]:
        """Counters of the messages that the engine sent, and of what it needed not do again."""
        found: dict[str, int] = self._engine.stats
        return found

    @property
    def namespaces(self) -> dict[str, str]:
        """The prefixes of namespaces."""
        return self.wsdl.types.prefix_map

    @property
    def service(self) -> ServiceProxy:
        """The operations of the default port."""
        if self._default_service is None:
            self._default_service = self.bind(self._default_service_name, self._default_port_name)
        if self._default_service is None:
            raise ValueError(
                "There is no default service defined. This is usually due to missing wsdl:service "
                "definitions in the WSDL: use create_service with a binding and an address"
            )
        return self._default_service

    def bind(
        self, service_name: str | None = None, port_name: str | None = None
    ) -> ServiceProxy | None:
        """The operations of a port; None if the WSDL has no service."""
        if not self.wsdl.services:
            return None
        port = self._get_port(self._get_service(service_name), port_name)
        return self._service_class(self, port.binding, **port.binding_options)

    def create_service(self, binding_name: str, address: str) -> ServiceProxy:
        """The operations of a binding at an address of your own."""
        binding = self.wsdl.bindings.get(binding_name)
        if binding is None:
            raise ValueError(
                "No binding found with the given QName. Available bindings are: "
                f"{', '.join(self.wsdl.bindings)}{self._hint_about_bindings}"
            )
        return self._service_class(self, binding, address=address)

    @property
    def _hint_about_bindings(self) -> str:
        is_of_soap = self._transport is None
        return "; those of plain HTTP need a transport, HttpTransport()" if is_of_soap else ""

    def create_message(
        self, service: ServiceProxy, operation_name: str, *args: Any, **kwargs: Any
    ) -> etree._Element:
        """The envelope of a request, which is not sent."""
        envelope: etree._Element
        envelope, _ = service._binding._create(
            operation_name, args, kwargs, client=self, options=service._binding_options
        )
        return envelope

    def type_factory(self, namespace: str) -> Factory:
        """The types of a namespace or prefix: `client.type_factory("ns0").User(name="John")`."""
        return Factory(self.wsdl.types, "type", namespace)

    def get_type(self, name: str) -> Any:
        """A type by its name, `{namespace}local` or `prefix:local`."""
        return self.wsdl.types.get_type(name)

    def get_element(self, name: str) -> Any:
        """An element by its name, `{namespace}local` or `prefix:local`."""
        return self.wsdl.types.get_element(name)

    def set_ns_prefix(self, prefix: str, namespace: str) -> None:
        """Give a namespace a prefix, in names and in messages."""
        self.wsdl.types.set_ns_prefix(prefix, namespace)

    def set_default_soapheaders(self, headers: Any) -> None:
        """Header blocks for every call: a list or a dict, as the calls then pass themselves."""
        self._default_soapheaders = headers

    def _get_service(self, name: str | None) -> Service:
        if name is None:
            return next(iter(self.wsdl.services.values()))
        found = self.wsdl.services.get(name)
        if found is None:
            raise ValueError(f"Service not found: {name!r}; there is {list(self.wsdl.services)}")
        return found

    def _get_port(self, service: Service, name: str | None) -> Port:
        if name is None:
            return next(iter(service.ports.values()))
        found = service.ports.get(name)
        if found is None:
            raise ValueError(f"Port not found: {name!r}; there is {list(service.ports)}")
        return found

    def __getitem__(self, port_name: str) -> ServiceProxy:
        """The operations of a port of the default service."""
        found = self.bind(self._default_service_name, port_name)
        if found is None:
            raise ValueError("There is no service defined in the WSDL")
        return found

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        if hasattr(self._transport, "close"):
            self._transport.close()


class AsyncClient(Client):
    """A client whose operations are awaited; the WSDL is loaded synchronously."""

    _service_class = AsyncServiceProxy

    @cached_property
    def _own_transport(self) -> Any:
        from deltasoap.http import AsyncHttpTransport

        return AsyncHttpTransport(operation_timeout=self._engine_options["timeout"])

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._transport is not None:
            await self._transport.aclose()


class CachingClient(Client):
    """A client that keeps documents in a file, see `deltasoap.cache.SqliteCache`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        from deltasoap.cache import SqliteCache

        if kwargs.get("transport") is None:
            from deltasoap.transports import Transport

            make = self._default_transport or Transport
            kwargs["transport"] = make(
                cache=SqliteCache(), operation_timeout=kwargs.pop("timeout", None)
            )
        super().__init__(*args, **kwargs)
