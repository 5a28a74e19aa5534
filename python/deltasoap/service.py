"""Services: functions that answer the operations of a WSDL, or that a WSDL is made from.

service = deltasoap.Service("shop.wsdl")

@service.operation
def Price(article):
    return prices[article]

service.serve(port=8000)              # or: application = service.asgi(), service.wsgi()
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

from deltasoap import _engine
from deltasoap._classes import Classes
from deltasoap.exceptions import Fault
from deltasoap.handlers import Explained, Handler, Parameters, explained

if TYPE_CHECKING:
    from deltasoap.codefirst import Interface
    from deltasoap.gateways import AsgiApplication, WsgiApplication

__all__ = ["Service"]

logger = logging.getLogger("deltasoap.service")

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Faults = Sequence[type[BaseException]] | Mapping[str, type[BaseException]]


class Service:
    """A service of a WSDL, or one whose WSDL is made from functions.

    :param wsdl: a path or URL of a WSDL, or its text as bytes
    :param name: the name of the service; without a WSDL, of the one that is made
    :param namespace: the namespace of the WSDL that is made
    :param address: the URL of the service in its WSDL; the one of the request unless given
    :param columns: whether lists of numbers arrive as NumPy arrays, and lists of flat structs as
        rows; functions of a WSDL that is made say it by their hints
    :param validate: whether requests are checked against the whole schema, facets included
    :param tolerance: what requests may have beyond their schema: `"strict"`, `"unknown"` elements,
        or `"any_order"`
    :param differential: whether requests are compared with earlier ones, and responses written
        over earlier ones
    :param sharing: whose earlier messages: of the same `"principal"` or connection, or of the
        `"operation"`, where clients may know each other's messages
    :param threads: how many functions run at one time, unless they are asynchronous
    :param max_message: bytes of a message
    :param max_package: bytes of a message with its attachments
    :param understands: names of header blocks that functions treat, besides those of the WSDL
    :param authenticate: called with a name and a password from each request (HTTP Basic); it
        must be quick. The servers of ASGI and WSGI have their own ways
    :param realm: shown to users who are asked for a password
    """

    def __init__(
        self,
        wsdl: str | os.PathLike[str] | bytes | None = None,
        *,
        name: str | None = None,
        namespace: str | None = None,
        address: str | None = None,
        columns: bool = False,
        validate: bool = False,
        tolerance: str = "strict",
        differential: bool = True,
        sharing: str = "principal",
        threads: int = 40,
        max_message: int = 64 << 20,
        max_package: int = 256 << 20,
        understands: Sequence[str] = (),
        authenticate: Callable[[str, str], bool] | None = None,
        realm: str | None = None,
    ) -> None:
        self._interface: Interface | None = None
        self._handlers: dict[str, Handler] = {}
        #: By the full names of the operations that they answer.
        self._answering: dict[str, Handler] = {}
        self._columns = columns
        self._is_started = False
        self._lock = threading.Lock()
        if wsdl is None:
            if name is None or namespace is None:
                raise TypeError(
                    "a Service needs a WSDL, or a name and a namespace to make one from functions"
                )
            from deltasoap.codefirst import Interface

            self._interface = Interface(name, namespace)
        else:
            if namespace is not None:
                raise TypeError("a Service with a WSDL has the namespaces of the WSDL")
            from deltasoap.descriptions import load

            self._contract, self._documents = load(wsdl)
            self._classes = Classes(_value_class)
            self._contract.set_classes(self._classes)
        self._settings: dict[str, Any] = {
            "name": name or self._named(),
            "address": address,
            "validate": validate,
            "tolerance": tolerance,
            "differential": differential,
            "sharing": sharing,
            "threads": threads,
            "max_message": max_message,
            "max_package": max_package,
            "understands": list(understands),
            "authenticate": authenticate,
            "realm": realm or name or "SOAP",
        }

    def _named(self) -> str:
        services = self._contract.services
        return str(services[0]["name"]).rpartition("}")[2] if services else "SOAP service"

    @overload
    def operation(self, function: _Function, /) -> _Function: ...

    @overload
    def operation(
        self,
        name: str | None = None,
        /,
        *,
        faults: _Faults = (),
        headers: Sequence[type] = (),
        response_headers: Sequence[type] = (),
        one_way: bool = False,
    ) -> Callable[[_Function], _Function]: ...

    def operation(
        self,
        function: Any = None,
        /,
        *,
        faults: _Faults = (),
        headers: Sequence[type] = (),
        response_headers: Sequence[type] = (),
        one_way: bool = False,
    ) -> Any:
        """Answer an operation with a function, sync or async, that gets the values by their names.

        Without a name, the operation has the name of the function. A full name,
        `Service.Port.Operation`, tells operations of one name apart.

        :param faults: classes of exceptions that clients get as declared faults, by the names of
            the elements if these differ from those of the classes
        :param headers: dataclasses of header blocks in requests, for a WSDL that is made
        :param response_headers: dataclasses of header blocks in responses, likewise
        :param one_way: whether there is no response, for a WSDL that is made
        """
        if callable(function):
            return self._add(function, None, (), {})
        options = {"headers": headers, "response_headers": response_headers, "one_way": one_way}

        def add(decorated: _Function) -> _Function:
            return self._add(decorated, function, faults, options)

        return add

    def _add(
        self, function: _Function, name: str | None, faults: _Faults, options: dict[str, Any]
    ) -> _Function:
        if self._is_started:
            raise RuntimeError(
                f"the service has started: add {name or function.__name__} before asgi(), wsgi(), "
                "serve() or wsdl"
            )
        name = name or function.__name__
        if name in self._handlers:
            raise ValueError(f"the operation {name} has a function already")
        if self._interface is not None:
            self._handlers[name] = self._interface.add(function, name, faults=faults, **options)
        else:
            if any(options.values()):
                raise TypeError("header blocks and one-way operations are declared by the WSDL")
            self._handlers[name] = self._bound(function, name, faults)
        return function

    @cached_property
    def _operations(self) -> list[tuple[Any, list[str]]]:
        """The operations of the WSDL, each with the full names of those that it stands for."""
        return list(_engine.served(self._contract))

    def _bound(self, function: Callable[..., Any], name: str, faults: _Faults) -> Handler:
        found = [op for op, names in self._operations if name == op.name or name in names]
        if not found:
            known = sorted({op.name for op, _ in self._operations})
            raise LookupError(f"the WSDL has no operation {name!r}; it has {', '.join(known)}")
        operation = found[0]
        _, reference, names = operation.request
        parameters = Parameters(function, names)
        is_simple = not names and _is_simple(self._contract, reference)
        if not is_simple:
            parameters.check(name, names)
        elif not parameters.values:
            raise TypeError(f"{parameters.shown}() has no parameter for the value of {name}")
        return Handler(
            parameters=parameters,
            arguments=lambda value: _arguments(parameters, value),
            result=_result(self._contract, operation),
            faults=_declared(faults, operation),
            has_columns=self._columns,
        )

    @cached_property
    def _server(self) -> Any:
        with self._lock:
            return self._started()

    def _started(self) -> Any:
        """Make the engine's server of the functions."""
        self._is_started = True
        if self._interface is not None:
            self._contract, text = self._interface.contract()
            self._documents = [("", text)]
        answered = []
        for operation, names in self._operations:
            known = (self._handlers.get(each) for each in (*names, operation.name))
            handler = next((each for each in known if each is not None), None)
            if handler is None:
                invoke = _unanswered(operation.name)
                answered.append((operation, invoke, False, False, False))
                continue
            self._answering[operation.full_name] = handler
            wants_context = handler.parameters.context is not None
            answered.append(
                (operation, handler.invoke(), handler.is_async, wants_context, handler.has_columns)
            )
        settings = {**self._settings, "documents": self._documents}
        # The engine's references are unseen by the collector: this one must not keep the service.
        explain = weakref.WeakMethod(self._explain)
        return _engine.Server(
            self._contract,
            answered,
            lambda *args: _explained(explain, *args),
            _event_loop,
            settings,
        )

    def _explain(self, error: BaseException, operation: str) -> Explained:
        """The fault for an exception, which is logged unless it is meant for clients."""
        known = explained(error, self._answering.get(operation))
        if known is not None:
            return known
        logger.error("the operation %s failed", operation, exc_info=error)
        name = operation.rpartition(".")[2]
        return f"the operation {name} failed", "Server", None, [], []

    def _body_limit(self, headers: list[tuple[bytes, bytes]]) -> int:
        """How many bytes of a body are read at most."""
        media = next((value for name, value in headers if name.lower() == b"content-type"), b"")
        is_package = media.lower().startswith((b"multipart/", b"application/dime"))
        limit: int = self._settings["max_package" if is_package else "max_message"]
        return limit

    @property
    def wsdl(self) -> str:
        """The WSDL, with the service's address. Functions cannot be added after that."""
        return self._server.wsdl or ""

    @property
    def stats(self) -> dict[str, int]:
        """Counters of messages, and what was skipped because earlier messages had it."""
        return dict(self._server.stats)

    def asgi(self) -> AsgiApplication:
        """The service as an application of ASGI 3."""
        from deltasoap.gateways import AsgiApplication

        self._server  # noqa: B018 - errors appear here, not with the first request
        return AsgiApplication(self)

    def wsgi(self) -> WsgiApplication:
        """The service as an application of WSGI."""
        from deltasoap.gateways import WsgiApplication

        self._server  # noqa: B018 - errors appear here, not with the first request
        return WsgiApplication(self)

    def serve(
        self,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        workers: int = 0,
        drain: float = 30.0,
        certificate: str | os.PathLike[str] | None = None,
        key: str | os.PathLike[str] | None = None,
    ) -> None:
        """Serve by HTTP until Ctrl-C or SIGTERM. Requests that have begun are answered first.

        :param workers: threads that read and write messages, besides those of the functions
        :param drain: seconds for requests that have begun, after the signal
        :param certificate: a chain of certificates in PEM, with its key: over TLS only
        """
        listener = self._listen(host, port, workers, drain, certificate, key)
        logger.info("listening on %s", _url(listener, certificate is not None))
        with _stopped_by_sigterm(listener):
            try:
                listener.serve()
            except KeyboardInterrupt:
                logger.info("stopped")

    @contextmanager
    def run_in_thread(
        self, host: str = "127.0.0.1", port: int = 0, *, workers: int = 0, drain: float = 0.2
    ) -> Iterator[str]:
        """Serve on a thread within a `with`, for tests; the value is the URL.

        :param drain: seconds for requests that have begun when the block ends
        """
        listener = self._listen(host, port, workers, drain, None, None)
        thread = threading.Thread(target=listener.serve, name="deltasoap-service", daemon=True)
        thread.start()
        try:
            yield _url(listener, False)
        finally:
            listener.stop()
            thread.join()

    def _listen(
        self,
        host: str,
        port: int,
        workers: int,
        drain: float,
        certificate: str | os.PathLike[str] | None,
        key: str | os.PathLike[str] | None,
    ) -> Any:
        if (certificate is None) != (key is None):
            raise TypeError("TLS needs a certificate and its key")
        tls = None
        if certificate is not None and key is not None:
            tls = _content(certificate), _content(key)
        return self._server.listen(host, port, workers=workers, drain=drain, tls=tls)


def _content(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _url(listener: Any, is_secure: bool) -> str:
    host, port = listener.address
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if is_secure else 'http'}://{shown}:{port}/"


@contextmanager
def _stopped_by_sigterm(listener: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: listener.stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)


def _is_simple(contract: Any, reference: Any) -> bool:
    return reference is not None and contract.type(reference)["kind"] == "simple"


def _arguments(parameters: Parameters, value: Any) -> dict[str, Any]:
    """The arguments for the value of a request's element."""
    values = getattr(value, "__values__", value)
    if isinstance(values, dict):
        return parameters.bind(values)
    first = next(iter(parameters.values), None)
    return {} if first is None else {first: values}


def _result(contract: Any, operation: Any) -> Callable[[Any], Any]:
    """How the value of the response's element is made of what a function returns."""
    if operation.response is None:
        return lambda result: None
    _, reference, names = operation.response
    if len(names) != 1:
        return (
            (lambda result: {} if result is None else result)
            if names
            else _empty(contract, reference)
        )
    (name,) = names

    def wrapped(result: Any) -> Any:
        values = getattr(result, "__values__", result)
        is_whole = isinstance(values, dict) and list(values) == [name]
        return values if is_whole else {name: result}

    return wrapped


def _empty(contract: Any, reference: Any) -> Callable[[Any], Any]:
    """The result of a type without names: a simple value, or an element without content."""
    if _is_simple(contract, reference):
        return lambda result: result
    return lambda result: {} if result is None else result


def _declared(faults: _Faults, operation: Any) -> dict[type[BaseException], str]:
    """The elements of exceptions: those of their names, with or without `Fault` after them."""
    elements = {name.rpartition("}")[2]: name for name, _, _ in operation.faults}
    named = faults if isinstance(faults, Mapping) else {each.__name__: each for each in faults}
    declared = {}
    for name, each in named.items():
        local = name.rpartition("}")[2]
        element = elements.get(local) or elements.get(f"{local}Fault")
        if element is None:
            raise LookupError(
                f"the operation {operation.name} declares no fault {name}; it declares "
                f"{', '.join(elements) or 'none'}"
            )
        declared[each] = element
    return declared


def _unanswered(name: str) -> Callable[[Any, Any], Any]:
    def refuse(_value: Any, _known: Any) -> Any:
        raise Fault(f"this service does not answer the operation {name}", code="Server")

    return refuse


def _explained(explain: weakref.WeakMethod[Any], *args: Any) -> Explained:
    method = explain()
    assert method is not None, "the service is gone"
    found: Explained = method(*args)
    return found


def _value_class(_reference: Any, name: str, _names: list[str]) -> type:
    """The class of the values of a complex type."""
    from deltasoap.xsd.values import CompoundValue

    fields = {"__deltasoap__": name or None, "__module__": "deltasoap.objects"}
    return type(name.rpartition("}")[2] or "Value", (CompoundValue,), fields)


_loops: list[Any] = []
_loops_lock = threading.Lock()


def _event_loop() -> Any:
    """The event loop for asynchronous functions where the server has none of its own."""
    import asyncio

    with _loops_lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="deltasoap-loop", daemon=True).start()
            _loops.append(loop)
        return _loops[0]
