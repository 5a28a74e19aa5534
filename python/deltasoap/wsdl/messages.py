"""The messages of a binding: arguments to an envelope, an envelope to a value."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from deltasoap import xsd
from deltasoap.wsdl.multiref import process_multiref
from deltasoap.xsd import codec
from deltasoap.xsd.values import ArrayValue, CompoundValue

if TYPE_CHECKING:
    from lxml import etree

    from deltasoap.wsdl.bindings import SoapOperation
    from deltasoap.wsdl.definitions import AbstractMessage

__all__ = ["DocumentMessage", "RpcMessage", "SerializedMessage"]


class SerializedMessage(NamedTuple):
    """A request: its envelope, and the HTTP headers that belong to it."""

    path: str | None
    headers: dict[str, str]
    content: Any


class SoapMessage:
    """A request or response of an operation.

    :param kind: "input" or "output"
    :param abstract: the message with its parts
    :param described: how the binding lays out the parts
    """

    def __init__(
        self,
        operation: SoapOperation,
        kind: str,
        abstract: AbstractMessage | None,
        described: dict[str, Any],
    ) -> None:
        self.operation = operation
        self.wsdl = operation.binding.wsdl
        self.nsmap = operation.nsmap
        self.type = kind
        self.abstract = abstract
        self._described = described

    @property
    def _is_empty(self) -> bool:
        """Whether nothing comes back: a response without parts."""
        return self.type != "input" and (self.abstract is None or not self.abstract.parts)

    def _name(self, local: str) -> str:
        return f"{{{self.nsmap['soap-env']}}}{local}"

    @cached_property
    def header(self) -> Any:
        """The header as an element with a field for each block."""
        if self._is_empty:
            return None
        blocks = xsd.All(consume_other=True)
        for each in self._described["headers"]:
            message, name = self.wsdl.messages.get(each["message"]), each["part"]
            part = message.parts.get(name) if message is not None else None
            if part is None:
                # The WSDL does not declare the block, so that it has no type.
                continue
            if part.element is not None:
                block = part.element.clone()
                block.attr_name = name
            else:
                block = xsd.Element(name, part.type)
            blocks.append(block)
        return xsd.Element(self._name("Header"), xsd.ComplexType(blocks))

    @cached_property
    def body(self) -> Any:
        """The element in the body; the body itself if there are several."""
        return None if self._is_empty else self._body()

    def _body(self) -> Any:
        raise NotImplementedError

    @cached_property
    def envelope(self) -> Any:
        """Header and body as one element, which is what calls return if there are headers."""
        if self._is_empty:
            return None
        parts = []
        if self.header.type._element:
            parts.append(xsd.Element(self._name("header"), self.header.type))
        body = self.body
        parts.append(xsd.Element(self._name("body"), body.type if body is not None else None))
        return xsd.Element(self._name("envelope"), xsd.ComplexType(xsd.Sequence(parts)))

    def _body_parts(self) -> dict[str, Any]:
        """The parts that are not header blocks."""
        if self.abstract is None:
            return {}
        own = self.abstract.name.text
        blocks = {each["part"] for each in self._described["headers"] if each["message"] == own}
        chosen = self._described["parts"]
        return {
            name: part
            for name, part in self.abstract.parts.items()
            if name not in blocks and (chosen is None or name in chosen)
        }

    @property
    def _is_body_wrapped(self) -> bool:
        return self.body is not None and self.body.qname.text == self._name("Body")

    def serialize(self, *args: Any, **kwargs: Any) -> SerializedMessage:
        """The envelope for arguments; `_soapheaders` has the values of header blocks."""
        from lxml import etree

        nsmap = {"soap-env": self.nsmap["soap-env"], **self.wsdl.types._prefix_map_custom}
        envelope = etree.Element(self._name("Envelope"), nsmap=nsmap)
        self._write_header(envelope, kwargs.pop("_soapheaders", None))
        self._write_body(envelope, args, kwargs)
        headers = {"SOAPAction": f'"{self.operation.soapaction or ""}"'}
        return SerializedMessage(path=None, headers=headers, content=envelope)

    def _write_body(self, envelope: etree._Element, args: Any, kwargs: dict[str, Any]) -> None:
        from lxml import etree

        body = etree.SubElement(envelope, self._name("Body"))
        if self.body is None:
            return
        value = self.body(*args, **kwargs)
        if not self._is_body_wrapped:
            self.body.render(body, value)
            return
        for name, element in self.body.type.elements:
            element.render(body, value[name], ["Body", name])

    def header_values(self, values: Any) -> list[Any] | None:
        """The header blocks for the engine: each as an element, or a value that knows its own."""
        if not values:
            return None
        if isinstance(values, list):
            return self._as_elements(values)
        value = self.header(**values) if isinstance(values, dict) else values
        return [
            xsd.AnyObject(element, value[name])
            for name, element in self.header.type.elements
            if name in value and value[name] is not None
        ]

    def _as_elements(self, values: list[Any]) -> list[Any]:
        from lxml import etree

        header = etree.Element(self._name("Header"))
        for value in values:
            _write_block(header, value)
        return list(header)

    def result(self, body: Any, headers: list[tuple[str, Any]]) -> Any:
        """What a call returns for values that the engine read."""
        value = self.body(**body) if isinstance(body, dict) else body
        if not self.header.type._element:
            return unwrapped(value)
        named = {part.qname.text: name for name, part in self.header.type.elements}
        fields = {named[qname]: block for qname, block in headers if qname in named}
        return self.envelope(body=value, header=self.header(**fields))

    def _write_header(self, envelope: etree._Element, values: Any) -> None:
        from lxml import etree

        if values:
            # Outside the envelope first: then lxml counts prefixes afresh for the body, as in zeep.
            header = etree.Element(self._name("Header"), nsmap=envelope.nsmap)
            self.write_blocks(header, values)
            envelope.append(header)

    def write_blocks(self, header: etree._Element, values: Any) -> None:
        """Add header blocks, a list or a dict, to an element."""
        if isinstance(values, list):
            for value in values:
                _write_block(header, value)
        elif isinstance(values, (dict, CompoundValue)):
            self._write_blocks(header, copy.deepcopy(values))
        else:
            raise ValueError("Invalid value given to _soapheaders: it takes a list or a dict")

    def _write_blocks(self, header: etree._Element, values: Any) -> None:
        if self.header is None:
            raise ValueError(
                "_soapheaders only accepts a dictionary if the wsdl defines the headers."
            )
        value = self.header(**values) if isinstance(values, dict) else values
        for name, element in self.header.type.elements:
            if name in value and value[name] is not None:
                element.render(header, value[name], ["header", name])

    def deserialize(self, envelope: etree._Element) -> Any:
        """The value of an envelope."""
        if self.envelope is None:
            return None
        body = envelope.find(self._name("Body"))
        value = self._read_body(body) if body is not None else None
        if not self.header.type._element:
            return unwrapped(value)
        fields = {"body": value}
        header = envelope.find(self._name("Header"))
        if header is not None:
            fields["header"] = self._read_header(header)
        return self.envelope(**fields)

    def _read_body(self, body: etree._Element) -> Any:
        if self.body is None:
            return None
        if not self._is_body_wrapped:
            first = next(body.iterchildren("*"), None)
            return self.body.parse(first, self.wsdl.types) if first is not None else None
        fields, _ = self._read_parts(self.body, body)
        return self.body(**fields)

    def _read_header(self, header: etree._Element) -> Any:
        fields, others = self._read_parts(self.header, header)
        if others:
            fields["_raw_elements"] = others
        return self.header(**fields)

    def _read_parts(
        self, element: Any, node: etree._Element
    ) -> tuple[dict[str, Any], list[etree._Element]]:
        named = {part.qname.text: (name, part) for name, part in element.type.elements}
        fields: dict[str, Any] = {}
        others = []
        for child in node.iterchildren("*"):
            name, part = named.get(child.tag, (None, None))
            if name is None or name in fields:
                others.append(child)
            else:
                fields[name] = part.parse(child, self.wsdl.types)
        return fields, others

    def signature(self, as_output: bool = False) -> str | None:
        """The fields of a request, or the result of a call, for people."""
        if self.envelope is None:
            return None
        types = self.wsdl.types
        if as_output:
            return self._output_signature(types)
        fields = []
        if self.body is not None:
            fields.append(self.body.type.signature(schema=types, standalone=False))
        if self.header.type._element:
            blocks = self.header.type.signature(schema=types, standalone=False)
            fields.append(f"_soapheaders={{{blocks}}}")
        return ", ".join(each for each in fields if each)

    def _output_signature(self, types: Any) -> str | None:
        elements = self.envelope.type.elements
        shown = elements[0][1].type if len(elements) == 1 else self.envelope.type
        return shown.signature(schema=types, standalone=False) if shown is not None else None


class DocumentMessage(SoapMessage):
    """A message whose parts are the children of the body."""

    def _body(self) -> Any:
        elements = []
        for name, part in self._body_parts().items():
            if part.element is not None:
                element = part.element.clone()
                element.attr_name = name or element.name
            else:
                element = xsd.Element(name, part.type)
            elements.append(element)
        if len(elements) > 1:
            return xsd.Element(self._name("Body"), xsd.ComplexType(xsd.All(elements)))
        return elements[0] if elements else None


class RpcMessage(SoapMessage):
    """A message whose parts are the children of an element named as the operation."""

    def _body(self) -> Any:
        found = (
            self.operation.engine.request
            if self.type == "input"
            else self.operation.engine.response
        )
        if found is None:
            return None
        parts = [
            part.element if part.element is not None else xsd.Element(name, part.type)
            for name, part in self._body_parts().items()
        ]
        return xsd.Element(found[0], xsd.ComplexType(xsd.Sequence(parts)))

    def _write_body(self, envelope: etree._Element, args: Any, kwargs: dict[str, Any]) -> None:
        from lxml import etree

        body = etree.SubElement(envelope, self._name("Body"))
        if self.body is None:
            return
        value = self.body(*args, **kwargs)
        wrapper = etree.SubElement(body, self.body.qname)
        # As zeep, without the types that the encoded form can name.
        for name, element in self.body.type.elements:
            element.render(wrapper, value[name], [self.body.name, name])

    def _read_body(self, body: etree._Element) -> Any:
        from lxml import etree

        process_multiref(body)
        # The name of the wrapper is not reliable: what counts is that it is the first child.
        first = next(body.iterchildren("*"), None)
        if self.body is None or first is None:
            return None
        tolerance = codec.reading(self.wsdl.settings)
        fields = self.operation.engine.decode_response(
            etree.tostring(first, with_tail=False), tolerance=tolerance
        )
        return self.body(**(fields or {}))


def _write_block(header: etree._Element, value: Any) -> None:
    from lxml import etree

    if isinstance(value, CompoundValue):
        element = vars(value).get("_xsd_elm")
        (element if element is not None else value._xsd_type).render(header, value)
    elif isinstance(value, etree._Element):
        header.append(copy.deepcopy(value))
    else:
        raise ValueError(
            f"Invalid value given to _soapheaders: {type(value).__name__} is neither an element "
            "of lxml nor a value made by client.get_element(...)(...)"
        )


def unwrapped(value: Any) -> Any:
    """What a call returns: the one field of a wrapper, and the one field of that."""
    if not isinstance(value, CompoundValue):
        return None if isinstance(value, (str, list)) and not value else value
    if len(value) != 1:
        return value if len(value) else None
    inner = next(iter(value.__values__.values()))
    if isinstance(inner, ArrayValue) or not isinstance(inner, CompoundValue):
        return inner
    kind = inner._xsd_type
    if len(kind.elements) == 1 and not kind.attributes:
        return inner[kind.elements[0][0]]
    return inner
