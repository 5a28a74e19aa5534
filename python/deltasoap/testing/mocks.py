"""A service of a WSDL in this process, which answers as a test wants."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from deltasoap import exceptions, ns
from deltasoap._engine import body
from deltasoap.http import HttpTransport
from deltasoap.loader import absolute_location
from deltasoap.proxy import remedy
from deltasoap.wsdl.bindings import SoapBinding
from deltasoap.wsdl.document import Document

if TYPE_CHECKING:
    from deltasoap._engine import Operation
    from deltasoap.client import Client

__all__ = ["Mock", "Request"]


@dataclass
class Request:
    """A request that a mock received."""

    #: The name of the operation.
    operation: str
    #: The values of the message, as a call has its arguments.
    values: Any
    #: The HTTP headers.
    headers: dict[str, str]
    #: The message.
    envelope: bytes = field(repr=False)


class Mock:
    """A service that listens on a local port until it is closed; a context manager.

    Operations answer with samples: every element that the WSDL describes, with values made up.
    Requests that the WSDL does not allow get a fault that says what is wrong with them.

    :param wsdl: a path or a URL
    :param port: the port to listen on; any free one unless given
    """

    def __init__(self, wsdl: str | os.PathLike[str], *, port: int = 0) -> None:
        self._document = Document(os.fspath(wsdl), HttpTransport())
        self._operations = _operations(self._document)
        self._answers: dict[str, list[_Answer]] = {}
        self._lock = threading.Lock()
        #: The requests so far that the WSDL allows.
        self.requests: list[Request] = []
        #: Seconds that the mock waits before it answers.
        self.delay = 0.0
        self._server = _Server(("127.0.0.1", port), self)
        #: The address of the service.
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        #: The address of the WSDL, in which the services are at the address of the mock.
        self.wsdl = f"{self.url}?wsdl"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def client(self, **options: Any) -> Client:
        """Return a client of the mock; the options are those of `deltasoap.Client`."""
        from deltasoap.client import Client

        return Client(self.wsdl, **options)

    def reply(self, operation: str, *args: Any, **values: Any) -> None:
        """Set what an operation answers; several answers are given in turn.

        Either the values of the response, of which those that are not given come from the sample;
        or one value for all of it; or a function that is called with the values of the request,
        and returns one of these or raises a `deltasoap.exceptions.Fault`.
        """
        found = self._operation(operation)
        answer = _Answer(args, values)
        if not answer.function:
            answer.envelope(found)
        self._add(operation, answer)

    def fault(
        self, operation: str, reason: str, *, code: str = "Server", detail: Any = None
    ) -> None:
        """Let an operation answer with a fault.

        :param code: `Server` or `Client`, or a code of the service
        :param detail: XML as text, or a dict of the element of a declared fault: its name and value
        """
        self._operation(operation)
        self._add(operation, _Answer((exceptions.Fault(reason, code, detail=detail),), {}))

    def reset(self) -> None:
        """Forget the answers and the requests."""
        with self._lock:
            self._answers.clear()
            self.requests.clear()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Mock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, operation: str, answer: _Answer) -> None:
        with self._lock:
            self._answers.setdefault(operation, []).append(answer)

    def _operation(self, name: str) -> Operation:
        for operation in self._operations:
            if operation.name == name:
                return operation
        names = {each.name for each in self._operations}
        text = f"The WSDL has no operation {name!r}{remedy(name, names)}"
        raise exceptions.LookupError(text, item_name=name)

    def _post(self, envelope: bytes, headers: dict[str, str]) -> tuple[int, str, bytes]:
        """The answer to a message: status, type and body."""
        soap = "1.1"
        try:
            soap, name, element, whole = body(envelope)
            operation = self._called(soap, name, _action(headers))
            content = whole if operation.request and not _local(operation.request[0]) else element
            values = operation.decode_request(content) if content is not None else None
        except exceptions.Error as error:
            return self._failed(exceptions.Fault(str(error), "Client"), soap)
        with self._lock:
            self.requests.append(Request(operation.name, values, headers, envelope))
            answer = self._next(operation.name)
        time.sleep(self.delay)
        try:
            written = answer.envelope(operation, values)
        except exceptions.Fault as fault:
            return self._failed(fault, soap)
        except Exception as error:  # a test's function, or what it returns
            return self._failed(exceptions.Fault(f"{type(error).__name__}: {error}"), soap)
        return (202, "", b"") if written is None else (200, _MEDIA_TYPES[soap], written)

    def _next(self, operation: str) -> _Answer:
        answers = self._answers.get(operation)
        if not answers:
            return _Answer((), {})
        answers.append(answers.pop(0))
        return answers[-1]

    def _called(self, soap: str, name: str | None, action: str) -> Operation:
        """The operation of a request: by its element, and by its action if several have that."""
        same = [each for each in self._operations if each.soap == soap and _begins(each, name)]
        found = [each for each in same if each.soap_action == action] or same
        if not found:
            raise exceptions.LookupError(f"no operation of SOAP {soap} has the element {name}")
        return found[0]

    def _failed(self, fault: exceptions.Fault, soap: str) -> tuple[int, str, bytes]:
        detail, name = self._detail(fault.detail), {"1.1": "detail", "1.2": "s:Detail"}[soap]
        written = _FAULTS[soap].format(
            code=_code(fault.code or "Server", soap),
            reason=escape(fault.message or "", quote=False),
            detail=f"<{name}>{detail}</{name}>" if detail else "",
        )
        return 500, _MEDIA_TYPES[soap], written.encode()

    def _detail(self, detail: Any) -> str:
        if not isinstance(detail, dict):
            return str(detail or "")
        names = {_local(each): each for each in self._document.contract.element_names}
        encode = self._document.contract.encode_element
        written = (encode(names.get(name, name), value) for name, value in detail.items())
        return "".join(_DECLARATION.sub("", each.decode()) for each in written)

    def _get(self, target: str) -> bytes:
        """The WSDL, or a document near it that it imports."""
        location = self._document.location or ""
        path = unquote(urlsplit(target).path).lstrip("/")
        if not path:
            return self._described()
        found = absolute_location(path, location)
        if not found.startswith(location[: location.rindex("/") + 1]):
            raise OSError(f"{path} is not beside the WSDL")
        return bytes(self._document.transport.load(found))

    def _described(self) -> bytes:
        address = self.url.encode()
        return _ADDRESS.sub(rb"\g<1>\g<2>" + address + rb"\g<2>", self._document._sources.root)


class _Answer:
    """What an operation answers with: values, a function, or a fault."""

    def __init__(self, args: tuple[Any, ...], values: dict[str, Any]) -> None:
        self._args = args
        self._values = values

    @property
    def function(self) -> Callable[[Any], Any] | None:
        """What is called with the values of a request."""
        is_one = len(self._args) == 1 and not self._values
        return self._args[0] if is_one and callable(self._args[0]) else None

    def envelope(self, operation: Operation, request: Any = None) -> bytes | None:
        """The response; None if the operation has none."""
        if self.function is not None:
            returned = self.function(request)
            args = () if returned is None else (returned,)
            return _Answer(args, {}).envelope(operation)
        for each in self._args:
            if isinstance(each, exceptions.Fault):
                raise each
        if operation.response is None:
            return None
        values = self._fields(operation.response[2])
        if values is None:
            return operation.response_envelope(self._args, self._values)
        return operation.response_envelope((), _merged(operation.sample, values))

    def _fields(self, names: list[str]) -> dict[str, Any] | None:
        """The values by name; None if they are in order."""
        if not self._args:
            return self._values
        fields = _values_of(self._args[0]) if len(self._args) == 1 else None
        return fields if fields and set(fields) <= set(names) else None


def _operations(document: Document) -> list[Operation]:
    """The operations that can be called, of all bindings of SOAP."""
    found = []
    for name, binding in document.bindings.items():
        for each in binding.all() if isinstance(binding, SoapBinding) else ():
            try:
                found.append(document.contract.operation(name, each))
            except (KeyError, exceptions.LookupError):
                continue
    return found


def _begins(operation: Operation, name: str | None) -> bool:
    """Whether a request of an operation begins with an element."""
    if operation.request is None:
        return name is None
    element, _, parts = operation.request
    if _local(element):
        return element == name
    return not parts if name is None else _local(name) in parts


def _values_of(value: Any) -> dict[str, Any] | None:
    """The parts of a value; None if it has none."""
    fields: dict[str, Any] | None = value if isinstance(value, dict) else None
    return getattr(value, "__values__", fields)


def _merged(sample: Any, values: Any) -> Any:
    """Values with what they lack from the sample, as a dict where both have parts."""
    fields = _values_of(sample)
    if fields is None or not isinstance(values, dict):
        return values
    return {**fields, **{name: _merged(fields.get(name), each) for name, each in values.items()}}


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _action(headers: dict[str, str]) -> str:
    """The action of a request: a header in SOAP 1.1, a parameter of the media type in 1.2."""
    found = headers.get("soapaction")
    if found is None:
        parameter = re.search(r'\baction="?([^";]*)', headers.get("content-type", ""))
        found = parameter[1] if parameter else ""
    return found.strip().strip('"')


def _code(code: str, soap: str) -> str:
    """A code of a fault as a name: the standard ones in SOAP's namespace."""
    names = {"1.1": _SOAP_11_CODES, "1.2": _SOAP_12_CODES}[soap]
    return f"s:{names[code]}" if code in names else escape(code)


_SOAP_11_CODES = {"Server": "Server", "Client": "Client", "Receiver": "Server", "Sender": "Client"}
_SOAP_12_CODES = {
    code: {"Server": "Receiver", "Client": "Sender"}[name] for code, name in _SOAP_11_CODES.items()
}

_MEDIA_TYPES = {
    "1.1": "text/xml; charset=utf-8",
    "1.2": "application/soap+xml; charset=utf-8",
}

_FAULTS = {
    "1.1": f'<s:Envelope xmlns:s="{ns.SOAP_ENV_11}"><s:Body><s:Fault>'
    "<faultcode>{code}</faultcode><faultstring>{reason}</faultstring>{detail}"
    "</s:Fault></s:Body></s:Envelope>",
    "1.2": f'<s:Envelope xmlns:s="{ns.SOAP_ENV_12}"><s:Body><s:Fault>'
    "<s:Code><s:Value>{code}</s:Value></s:Code>"
    '<s:Reason><s:Text xml:lang="en">{reason}</s:Text></s:Reason>'
    "{detail}</s:Fault></s:Body></s:Envelope>",
}

_DECLARATION = re.compile(r"^<\?xml[^>]*\?>\s*")

#: The address of a port in a WSDL.
_ADDRESS = re.compile(rb"(<(?:[\w.-]+:)?address\b[^>]*?\blocation\s*=\s*)([\"']).*?\2")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], mock: Mock) -> None:
        super().__init__(address, _Handler)
        self.mock = mock


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A response leaves at once: otherwise it waits for an acknowledgement of its headers.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(*self.server.mock._post(self._body(), headers))

    def do_GET(self) -> None:
        try:
            content = self.server.mock._get(self.path)
        except (OSError, exceptions.Error) as error:
            self._send(404, "text/plain; charset=utf-8", str(error).encode())
        else:
            self._send(200, "text/xml; charset=utf-8", content)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def _send(self, status: int, media_type: str, content: bytes) -> None:
        self.send_response(status)
        if media_type:
            self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the test knows the requests."""
