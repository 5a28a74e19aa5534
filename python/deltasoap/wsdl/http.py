"""Bindings of plain HTTP: arguments in the address or in a form, an XML document back.

The engine imports bindings of SOAP. Those of HTTP are read here, from the same documents; their
messages and port types are the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

from deltasoap import ns, xsd
from deltasoap.envelope import etree_to_string
from deltasoap.exceptions import Fault
from deltasoap.loader import parse_xml
from deltasoap.wsdl.bindings import Binding
from deltasoap.wsdl.definitions import Operation
from deltasoap.wsdl.messages import SerializedMessage
from deltasoap.xsd.codec import qualified
from deltasoap.xsd.names import as_name

if TYPE_CHECKING:
    from lxml import etree

    from deltasoap.wsdl.definitions import AbstractMessage
    from deltasoap.wsdl.document import Document

NSMAP = {"http": ns.HTTP, "wsdl": ns.WSDL, "mime": ns.MIME}


class HttpBinding(Binding):
    """A binding of HTTP; each verb has its class."""

    verb: ClassVar[str]

    def create_message(self, operation: str, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The path, headers and body of a request."""
        return self._created(operation, args, kwargs)

    def _created(self, operation: str, args: Any, kwargs: dict[str, Any]) -> SerializedMessage:
        created: SerializedMessage = self.get(operation).create(*args, **kwargs)
        return created

    def send(
        self, client: Any, options: dict[str, Any], operation: str, args: Any, kwargs: Any
    ) -> Any:
        """Call an operation."""
        request = self._created(operation, args, kwargs)
        method = getattr(client.transport, self.verb.lower())
        url = f"{options['address']}{request.path or ''}"
        response = method(url, request.content, headers=request.headers)
        if client.settings.raw_response:
            return response
        return self.process_reply(client, self.get(operation), response)

    async def send_async(
        self, client: Any, options: dict[str, Any], operation: str, args: Any, kwargs: Any
    ) -> Any:
        """Call an operation through a transport whose methods are coroutines."""
        request = self._created(operation, args, kwargs)
        method = getattr(client.transport, self.verb.lower())
        url = f"{options['address']}{request.path or ''}"
        response = await method(url, request.content, headers=request.headers)
        if client.settings.raw_response:
            return response
        return self.process_reply(client, self.get(operation), response)

    def process_reply(self, client: Any, operation: Any, response: Any) -> Any:
        """The value of a response; raises Fault if its status is not 200."""
        if response.status_code != 200:
            raise Fault(message=response.content)
        return operation.process_reply(response.content)


class HttpGetBinding(HttpBinding):
    """A binding whose requests are GET."""

    verb = "GET"


class HttpPostBinding(HttpBinding):
    """A binding whose requests are POST."""

    verb = "POST"


class HttpOperation(Operation):
    """An operation of a binding of HTTP, with its path."""

    def __init__(self, name: str, binding: Any, location: str) -> None:
        super().__init__(name, binding)
        self.location = location

    def process_reply(self, content: bytes) -> Any:
        """The value of a response's body."""
        return self.output.deserialize(content) if self.output is not None else None


class HttpMessage:
    """A request or response. The body is an element with a field for each part."""

    def __init__(
        self, operation: HttpOperation, abstract: AbstractMessage | None, layout: etree._Element
    ) -> None:
        self.operation = operation
        self.wsdl = operation.binding.wsdl
        self.abstract = abstract
        self.content_type = layout.get("type")
        self.part_name = layout.get("part")

    @property
    def _parts(self) -> dict[str, Any]:
        return self.abstract.parts if self.abstract is not None else {}

    @property
    def body(self) -> Any:
        """The parts as an element; the element of the part, if the layout names one that is."""
        chosen = self._parts.get(self.part_name or "")
        if chosen is not None and chosen.element is not None:
            return chosen.element
        parts = self._parts if chosen is None else {self.part_name: chosen}
        fields = [
            part.element.clone(name) if part.element is not None else xsd.Element(name, part.type)
            for name, part in parts.items()
        ]
        return xsd.Element(self.operation.name, xsd.ComplexType(xsd.Sequence(fields)))

    def signature(self, as_output: bool = False) -> str:
        """The fields of a request, or the result of a call, for people."""
        kind = self.body.type
        if as_output and kind.is_complex and len(kind.elements) == 1:
            kind = kind.elements[0][1].type
        return str(kind.signature(schema=self.wsdl.types, standalone=False))

    def serialize(self, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The request for arguments."""
        raise NotImplementedError(f"{type(self).__name__} is no layout of requests")

    def _arguments(self, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        named = dict(zip(self._parts, args, strict=False))
        return {**dict.fromkeys(self._parts), **named, **kwargs}

    def deserialize(self, content: Any) -> Any:
        """The value of a response."""
        node = parse_xml(content, None, settings=self.wsdl.settings)
        part = next(iter(self._parts.values()), None)
        if part is None:
            return None
        if part.element is not None:
            return part.element.parse(node, self.wsdl.types)
        return part.type.parse_xmlelement(node, self.wsdl.types)


class UrlEncoded(HttpMessage):
    """Arguments in the query of the address, or in a form."""

    def serialize(self, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The request for arguments."""
        content = self._arguments(args, kwargs)
        return SerializedMessage(self.operation.location, dict(_XML), content)


class UrlReplacement(HttpMessage):
    """Arguments in the path, in the places of their names in parentheses."""

    def serialize(self, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The request for arguments."""
        path = self.operation.location
        for name, value in self._arguments(args, kwargs).items():
            path = path.replace(f"({name})", "" if value is None else str(value))
        return SerializedMessage(path, dict(_XML), "")


class MimeContent(HttpMessage):
    """Arguments as a form or an XML document in the body."""

    def serialize(self, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The request for arguments."""
        headers = {"Content-Type": self.content_type or ""}
        return SerializedMessage(self.operation.location, headers, self._content(args, kwargs))

    def _content(self, args: Any, kwargs: dict[str, Any]) -> Any:
        from lxml import etree

        value = self.body(*args, **kwargs)
        if self.content_type == "application/x-www-form-urlencoded":
            return urlencode(value.__values__)
        if self.content_type != "text/xml":
            return ""
        root = etree.Element("root")
        self.body.render(root, value)
        return etree_to_string(root[0])


class MimeXML(HttpMessage):
    """An XML document in the body of a response."""


_XML = {"Content-Type": "text/xml; charset=utf-8"}
_VERBS: dict[str, type[HttpBinding]] = {"GET": HttpGetBinding, "POST": HttpPostBinding}
_LAYOUTS: dict[str, type[HttpMessage]] = {
    f"{{{ns.HTTP}}}urlEncoded": UrlEncoded,
    f"{{{ns.HTTP}}}urlReplacement": UrlReplacement,
    f"{{{ns.MIME}}}content": MimeContent,
    f"{{{ns.MIME}}}mimeXml": MimeXML,
}


def bindings_in(root: etree._Element, wsdl: Document) -> Iterator[HttpBinding]:
    """The bindings of HTTP in a document."""
    for node in root.findall("wsdl:binding", namespaces=NSMAP):
        how = node.find("http:binding", namespaces=NSMAP)
        kind = _VERBS.get(how.get("verb", "")) if how is not None else None
        if kind is not None:
            yield _binding(kind, node, root.get("targetNamespace"), wsdl)


def ports_in(root: etree._Element) -> Iterator[tuple[str, str, str, str | None]]:
    """The ports of HTTP in a document: their service, name, binding and address."""
    namespace = root.get("targetNamespace")
    for service in root.findall("wsdl:service", namespaces=NSMAP):
        for port in service.findall("wsdl:port", namespaces=NSMAP):
            address = port.find("http:address", namespaces=NSMAP)
            if address is not None:
                binding = _reference(port, "binding", namespace)
                name = port.get("name", "")
                yield service.get("name", ""), name, binding, address.get("location")


def _binding(
    kind: type[HttpBinding], node: etree._Element, namespace: str | None, wsdl: Document
) -> HttpBinding:
    port_type = as_name(_reference(node, "type", namespace))
    made = kind(wsdl, as_name(f"{{{namespace}}}{node.get('name')}"), port_type)
    for child in node.findall("wsdl:operation", namespaces=NSMAP):
        operation = _operation(made, child)
        if operation is not None:
            made._operations[operation.name] = operation
    return made


def _operation(binding: HttpBinding, node: etree._Element) -> HttpOperation | None:
    name = node.get("name", "")
    abstract = binding.port_type.operations.get(name) if binding.port_type else None
    how = node.find("http:operation", namespaces=NSMAP)
    if abstract is None or how is None:
        return None
    made = HttpOperation(name, binding, how.get("location", ""))
    made.abstract = abstract
    made.input = _message(made, abstract.input_message, node.find("wsdl:input", NSMAP))
    made.output = _message(made, abstract.output_message, node.find("wsdl:output", NSMAP))
    return made


def _message(
    operation: HttpOperation, abstract: AbstractMessage | None, node: etree._Element | None
) -> HttpMessage | None:
    # Of several layouts, which are alternatives, the first is taken.
    layout = next(node.iterchildren("*"), None) if node is not None else None
    kind = _LAYOUTS.get(str(layout.tag)) if layout is not None else None
    return kind(operation, abstract, layout) if kind is not None and layout is not None else None


def _reference(node: etree._Element, attribute: str, namespace: str | None) -> str:
    text = node.get(attribute, "").strip()
    found = qualified(text, node.nsmap) if ":" in text else as_name(f"{{{namespace}}}{text}")
    return str(found.text)
