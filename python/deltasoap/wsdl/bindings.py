"""Bindings: how the operations of a port type become messages over HTTP."""

from __future__ import annotations

import logging
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from deltasoap import _exchanges, ns, plugins
from deltasoap.envelope import etree_to_string
from deltasoap.exceptions import Fault, TransportError, XMLSyntaxError
from deltasoap.loader import parse_xml
from deltasoap.wsa import WsAddressingPlugin
from deltasoap.wsdl.attachments import BodyPart, MessagePack, media_type, related_parts
from deltasoap.wsdl.definitions import Operation
from deltasoap.wsdl.messages import DocumentMessage, RpcMessage
from deltasoap.wsdl.xop import process_xop
from deltasoap.xsd.codec import qualified
from deltasoap.xsd.names import as_name

if TYPE_CHECKING:
    from lxml import etree

    from deltasoap.wsdl.document import Document

logger = logging.getLogger("deltasoap.wsdl")


class Binding:
    """A binding with its operations by name."""

    nsmap: ClassVar[dict[str, str]] = {}

    def __init__(self, wsdl: Any, name: Any, port_name: Any) -> None:
        self.wsdl = wsdl
        self.name = name
        self.port_name = port_name
        self._operations: dict[str, Any] = {}

    @property
    def port_type(self) -> Any:
        """The port type whose operations it binds."""
        return self.wsdl.port_types.get(self.port_name.text)

    def __str__(self) -> str:
        return f"{type(self).__name__}: {self.name.text}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(name={self.name.text!r}, port_type={self.port_type!r})>"

    def all(self) -> dict[str, Any]:
        """The operations by name."""
        return self._operations

    def get(self, key: str) -> Any:
        """An operation; ValueError if there is none of the name."""
        try:
            return self._operations[key]
        except KeyError:
            raise ValueError(
                f"No such operation {key!r} on {self.name}; it has {', '.join(self._operations)}"
            ) from None


class SoapBinding(Binding):
    """A binding of SOAP over HTTP."""

    def __init__(
        self, wsdl: Any, name: Any, port_name: Any, transport: Any, default_style: Any
    ) -> None:
        super().__init__(wsdl, name, port_name)
        self.transport = transport
        self.default_style = default_style

    @classmethod
    def of(cls, wsdl: Document, described: dict[str, Any]) -> SoapBinding:
        """The binding that the engine describes."""
        made = cls(
            wsdl, as_name(described["name"]), as_name(described["port_type"]), wsdl.transport, None
        )
        for each in described["operations"]:
            operation = SoapOperation.of(made, each)
            if operation is not None:
                made._operations[operation.name] = operation
        return made

    def create_message(self, operation: str, *args: Any, **kwargs: Any) -> etree._Element:
        """The envelope of a request."""
        envelope, _ = self._create(operation, args, kwargs)
        return envelope

    def _create(
        self,
        operation: str,
        args: Any,
        kwargs: dict[str, Any],
        client: Any = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[etree._Element, dict[str, str]]:
        """The envelope and the HTTP headers of a request, after plugins and WS-Security."""
        found = self.get(operation)
        serialized = found.create(*args, **kwargs)
        envelope, headers = serialized.content, serialized.headers
        headers.update(self._http_headers(found))
        if client is None:
            return envelope, headers
        if not options:
            options = client.service._binding_options
        if found.abstract is not None and found.abstract.wsa_action:
            envelope, headers = WsAddressingPlugin().egress(envelope, headers, found, options)
        envelope, headers = plugins.apply_egress(client, envelope, headers, found, options)
        for each in _wsse_of(client):
            envelope, headers = each.apply(envelope, headers)
        headers.update(client.settings.extra_http_headers or {})
        return envelope, headers

    def _http_headers(self, operation: SoapOperation) -> dict[str, str]:
        raise NotImplementedError

    def send(
        self, client: Any, options: dict[str, Any], operation: str, args: Any, kwargs: Any
    ) -> Any:
        """Call an operation."""
        if getattr(client, "_uses_engine", False):
            call = self._engine_call(client, options, operation, args, kwargs)
            return self.get(operation).result_of(_exchanges.call(client, **call))
        envelope, headers = self._create(operation, args, kwargs, client=client, options=options)
        response = client.transport.post_xml(options["address"], envelope, headers)
        if client.settings.raw_response:
            return response
        return self.process_reply(client, self.get(operation), response)

    async def send_async(
        self, client: Any, options: dict[str, Any], operation: str, args: Any, kwargs: Any
    ) -> Any:
        """Call an operation through a transport whose methods are coroutines."""
        if getattr(client, "_uses_engine", False):
            call = self._engine_call(client, options, operation, args, kwargs)
            return self.get(operation).result_of(await _exchanges.call_async(client, **call))
        envelope, headers = self._create(operation, args, kwargs, client=client, options=options)
        response = await client.transport.post_xml(options["address"], envelope, headers)
        if client.settings.raw_response:
            return response
        return self.process_reply(client, self.get(operation), response)

    def _engine_call(
        self, client: Any, options: dict[str, Any], operation: str, args: Any, kwargs: Any
    ) -> dict[str, Any]:
        found = self.get(operation)
        headers = found.input.header_values(kwargs.pop("_soapheaders", None))
        extra = dict(client.settings.extra_http_headers or {}) or None
        return {
            "operation": found.engine,
            "args": tuple(args),
            "kwargs": kwargs,
            "headers": headers,
            "address": options["address"],
            "http_headers": extra,
        }

    def process_reply(self, client: Any, operation: SoapOperation, response: Any) -> Any:
        """The value of a response; raises Fault if it is one."""
        if response.status_code in (201, 202) and not response.content:
            return None
        if response.status_code != 200 and not response.content:
            raise TransportError(
                f"Server returned HTTP status {response.status_code} (no content available)",
                status_code=response.status_code,
            )
        document, pack = self._message_in(client, response)
        if pack is not None and process_xop(document, pack):
            pack = None
        for each in _wsse_of(client):
            each.verify(document)
        document, _ = plugins.apply_ingress(client, document, response.headers, operation)
        fault = document.find("soap-env:Body/soap-env:Fault", namespaces=self.nsmap)
        if response.status_code != 200 or fault is not None:
            self.process_error(document, operation)
        result = operation.process_reply(document)
        if pack is None:
            return result
        pack._set_root(result)
        return pack

    def _message_in(self, client: Any, response: Any) -> tuple[etree._Element, MessagePack | None]:
        content_type = response.headers.get("Content-Type", "text/xml")
        content: Any = response.content
        parts: list[Any] = []
        if media_type(content_type) == "multipart/related":
            content, parts = related_parts(content, content_type)
        try:
            document = parse_xml(content, self.transport, settings=client.settings)
        except XMLSyntaxError as error:
            raise TransportError(
                f"Server returned response ({response.status_code}) with invalid XML: {error}.\n"
                f"Content: {response.content!r}",
                status_code=response.status_code,
                content=response.content,
            ) from error
        return document, MessagePack(parts) if parts else None

    def process_error(self, doc: etree._Element, operation: Any) -> NoReturn:
        """Raise the fault of a message."""
        fault = doc.find("soap-env:Body/soap-env:Fault", namespaces=self.nsmap)
        if fault is None:
            raise Fault("Unknown fault occured", detail=etree_to_string(doc))
        raise self._fault(fault)

    def _fault(self, node: etree._Element) -> Fault:
        raise NotImplementedError


class Soap11Binding(SoapBinding):
    """A binding of SOAP 1.1."""

    nsmap = {"soap": ns.SOAP_11, "soap-env": ns.SOAP_ENV_11, "wsdl": ns.WSDL, "xsd": ns.XSD}

    def _http_headers(self, operation: SoapOperation) -> dict[str, str]:
        return {"Content-Type": "text/xml; charset=utf-8"}

    def _fault(self, node: etree._Element) -> Fault:
        # The children have no namespace, but some services put them into one of their own.
        children = {_local(child): child for child in node if isinstance(child.tag, str)}
        texts = {name: child.text for name, child in children.items()}
        return Fault(
            message=texts.get("faultstring"),
            code=texts.get("faultcode"),
            actor=texts.get("faultactor"),
            detail=children.get("detail"),
        )


class Soap12Binding(SoapBinding):
    """A binding of SOAP 1.2."""

    nsmap = {"soap": ns.SOAP_12, "soap-env": ns.SOAP_ENV_12, "wsdl": ns.WSDL, "xsd": ns.XSD}

    def _http_headers(self, operation: SoapOperation) -> dict[str, str]:
        action = operation.soapaction
        return {"Content-Type": f'application/soap+xml; charset=utf-8; action="{action}"'}

    def _fault(self, node: etree._Element) -> Fault:
        return Fault(
            message=node.findtext("soap-env:Reason/soap-env:Text", namespaces=self.nsmap),
            code=node.findtext("soap-env:Code/soap-env:Value", namespaces=self.nsmap),
            actor=None,
            detail=node.find("soap-env:Detail", namespaces=self.nsmap),
            subcodes=self._subcodes(node),
        )

    def _subcodes(self, node: etree._Element) -> list[Any]:
        found = []
        code = node.find("soap-env:Code/soap-env:Subcode", namespaces=self.nsmap)
        while code is not None:
            value = code.find("soap-env:Value", namespaces=self.nsmap)
            if value is not None and value.text:
                found.append(qualified(value.text, value.nsmap))
            code = code.find("soap-env:Subcode", namespaces=self.nsmap)
        return found


#: The classes of bindings by version.
BINDINGS: dict[str, type[SoapBinding]] = {"1.1": Soap11Binding, "1.2": Soap12Binding}


class SoapOperation(Operation):
    """An operation of a binding of SOAP."""

    def __init__(
        self, name: str, binding: Any, nsmap: dict[str, str], soapaction: str | None, style: str
    ) -> None:
        super().__init__(name, binding)
        self.nsmap = nsmap
        self.soapaction = soapaction
        self.style = style

    @classmethod
    def of(cls, binding: SoapBinding, described: dict[str, Any]) -> SoapOperation | None:
        """The operation that the engine describes; None if its port type does not have it."""
        name = described["name"]
        abstract = binding.port_type.operations.get(name) if binding.port_type else None
        if abstract is None:
            warnings.warn(
                f"The wsdl:operation {name!r} was not found in the wsdl:portType "
                f"{binding.port_name.text!r}",
                stacklevel=2,
            )
            return None
        made = cls(name, binding, binding.nsmap, described["soap_action"], described["style"])
        made.abstract = abstract
        message = RpcMessage if made.style == "rpc" else DocumentMessage
        if described["request"] is not None:
            made.input = message(made, "input", abstract.input_message, described["request"])
        if described["response"] is not None:
            made.output = message(made, "output", abstract.output_message, described["response"])
        return made

    @cached_property
    def engine(self) -> Any:
        """The operation as the engine knows it."""
        return self.binding.wsdl.contract.operation(self.binding.name.text, self.name)

    def result_of(self, reply: Any) -> Any:
        """What a call returns for the engine's reply."""
        if reply is None or self.output is None or self.output.envelope is None:
            return None
        result = self.output.result(reply.body, reply.headers)
        if not reply.attachments:
            return result
        pack = MessagePack([BodyPart.decoded(*part) for part in reply.attachments])
        pack._set_root(result)
        return pack

    def process_reply(self, envelope: etree._Element) -> Any:
        """The value of a response's envelope."""
        expected = f"{{{self.nsmap['soap-env']}}}Envelope"
        if envelope.tag != expected:
            raise XMLSyntaxError(
                "The XML returned by the server does not contain a valid "
                f"{expected} root element. The root element found is {envelope.tag!s}"
            )
        return self.output.deserialize(envelope) if self.output is not None else None


def _wsse_of(client: Any) -> list[Any]:
    wsse = client.wsse
    if not wsse:
        return []
    return list(wsse) if isinstance(wsse, (list, tuple)) else [wsse]


def _local(node: etree._Element) -> str:
    return str(node.tag).rpartition("}")[2]
