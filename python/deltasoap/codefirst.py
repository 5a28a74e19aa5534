"""A WSDL made from functions with type hints: document/literal wrapped, for SOAP 1.1 and 1.2.

    service = deltasoap.Service(name="Shop", namespace="urn:shop")

    @service.operation
    def price(article: str, count: int = 1) -> Decimal: ...

Each parameter is an element of the request, and the result is the element `priceResult` of the
response. Dataclasses are complex types, enumerations are simple types.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints
from xml.sax.saxutils import escape, quoteattr

from deltasoap import _engine
from deltasoap._classes import Classes
from deltasoap.handlers import Handler, Parameters
from deltasoap.hints import Member, Structure, Types

__all__ = ["Interface"]

_HTTP = "http://schemas.xmlsoap.org/soap/http"


@dataclass
class Method:
    """A function as an operation."""

    name: str
    function: Callable[..., Any]
    parameters: Parameters
    faults: dict[type[BaseException], str]
    headers: Sequence[type]
    response_headers: Sequence[type]
    is_one_way: bool
    request: list[Member] = field(default_factory=list)
    result: Member | None = None
    handler: Handler | None = None

    @property
    def documentation(self) -> str:
        """The documentation of the function."""
        return inspect.getdoc(self.function) or ""


class Interface:
    """The functions of a service, and the WSDL that describes them."""

    def __init__(self, name: str, namespace: str) -> None:
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} cannot be the name of a service: it has to be an identifier"
            )
        self.name = name
        self.namespace = namespace
        self._types = Types()
        self._methods: list[Method] = []

    def add(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        faults: Sequence[type[BaseException]] | Mapping[str, type[BaseException]] = (),
        headers: Sequence[type] = (),
        response_headers: Sequence[type] = (),
        one_way: bool = False,
    ) -> Handler:
        """Add a function. Hints that name what is not defined yet are looked up later."""
        if isinstance(faults, Mapping):
            raise TypeError("the faults of a WSDL that is made have the names of their classes")
        named = {each: each.__name__ for each in faults}
        method = Method(
            name, function, Parameters(function), named, headers, response_headers, one_way
        )
        if method.parameters.takes_any:
            raise TypeError(f"{method.parameters.shown}() takes any keyword: name the parameters")
        self._methods.append(method)
        try:
            self._describe(method)
            is_described = True
        except NameError:
            is_described = False
        handler = Handler(
            parameters=method.parameters,
            arguments=lambda value: _arguments(method, value),
            result=lambda result: _result(method, result),
            faults=named,
            detail=self._written,
            header=self._written,
            has_columns=is_described and self._has_columns(method),
        )
        method.handler = handler
        return handler

    def _describe(self, method: Method) -> None:
        """Read the hints of a function.

        Raises:
            TypeError: if a hint has no XML type; it names the function and the parameter.
        """
        shown = method.parameters.shown
        hints = get_type_hints(method.function, include_extras=True)
        request = []
        for name, parameter in method.parameters.values.items():
            place = f"{shown}() parameter {name!r}"
            if name not in hints:
                raise TypeError(f"{place} has no type hint, which its XML type is made from")
            has_default = parameter.default is not parameter.empty
            request.append(
                self._types.member(element_name(name), name, hints[name], place, has_default)
            )
        method.request = request
        method.result = None
        if "return" not in hints and not method.is_one_way:
            raise TypeError(f"{shown}() has no hint for its result: add one, or '-> None'")
        result = hints.get("return", type(None))
        if result is not type(None):
            if method.is_one_way:
                raise TypeError(f"{shown}() is one-way, so its result has to be None")
            place = f"{shown}() result"
            method.result = self._types.member(f"{method.name}Result", "", result, place, False)
        for each in (*method.faults, *method.headers, *method.response_headers):
            self._types.structure(each, f"{shown}() {each.__name__}")

    def _has_columns(self, method: Method) -> bool:
        return any(self._types.has_arrays(member) for member in method.request)

    def _written(self, value: Any) -> Any:
        found = self._types.structures.get(type(value))
        return found.write(value) if found is not None else value

    def contract(self) -> tuple[Any, str]:
        """The contract, and the text of the WSDL."""
        for method in self._methods:
            try:
                self._describe(method)
            except NameError as error:
                raise TypeError(
                    f"{method.parameters.shown}() has a hint that cannot be looked up: {error}; "
                    "define it in the module of the function, outside other functions"
                ) from error
            if method.handler is not None:
                method.handler.has_columns = self._has_columns(method)
        text = self.wsdl()
        contract = _engine.Contract.parse(text.encode())
        self._classes = Classes(self._class)
        contract.set_classes(self._classes)
        return contract, text

    def _class(self, _reference: Any, name: str, _names: list[str]) -> Any:
        """What makes the values of a type: a dataclass, or for messages a dict."""
        local = name.rpartition("}")[2]
        for structure in self._types.structures.values():
            if structure.name == local:
                return structure
        return _Values

    def wsdl(self) -> str:
        """The text of the WSDL."""
        return "\n".join(_document(self, self._methods, self._types))


class _Values:
    """Makes the values of a message's element: a dict."""

    @staticmethod
    def _from_engine(values: dict[str, Any]) -> dict[str, Any]:
        return values


def element_name(name: str) -> str:
    """The name of the element for a parameter: without the underscore that avoids a keyword."""
    is_escaped = name.endswith("_") and keyword.iskeyword(name[:-1])
    return name[:-1] if is_escaped else name


def _arguments(method: Method, value: Any) -> dict[str, Any]:
    values = value if isinstance(value, dict) else {}
    bound = {}
    for member in method.request:
        found = member.read(values.get(member.name))
        default = method.parameters.values[member.python].default
        if member.is_absent(found) and default is not inspect.Parameter.empty:
            continue
        bound[member.python] = found
    return bound


def _result(method: Method, result: Any) -> Any:
    return {} if method.result is None else {method.result.name: method.result.write(result)}


def _document(interface: Interface, methods: list[Method], types: Types) -> list[str]:
    elements = _elements(methods)
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<wsdl:definitions name={quoteattr(interface.name)}",
        f"    targetNamespace={quoteattr(interface.namespace)}",
        f"    xmlns:tns={quoteattr(interface.namespace)}",
        '    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"',
        '    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"',
        '    xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"',
        '    xmlns:xsd="http://www.w3.org/2001/XMLSchema">',
        "  <wsdl:types>",
        f"    <xsd:schema targetNamespace={quoteattr(interface.namespace)}"
        ' elementFormDefault="qualified">',
        *_indented(_schema(methods, types, elements), 6),
        "    </xsd:schema>",
        "  </wsdl:types>",
        *_indented(_messages(methods, elements), 2),
        f'  <wsdl:portType name="{interface.name}">',
        *_indented([line for method in methods for line in _port_type(method)], 4),
        "  </wsdl:portType>",
        *_indented(_binding(interface, methods, "soap", "Soap11"), 2),
        *_indented(_binding(interface, methods, "soap12", "Soap12"), 2),
        f'  <wsdl:service name="{interface.name}">',
        *_indented(_port(interface, "soap", "Soap11"), 4),
        *_indented(_port(interface, "soap12", "Soap12"), 4),
        "  </wsdl:service>",
        "</wsdl:definitions>",
        "",
    ]


def _indented(lines: list[str], width: int) -> list[str]:
    return [" " * width + line for line in lines]


def _elements(methods: list[Method]) -> dict[str, type]:
    """The elements of faults and header blocks, by their names.

    Raises:
        TypeError: if two elements have one name.
    """
    taken = {name for method in methods for name in (method.name, f"{method.name}Response")}
    elements: dict[str, type] = {}
    for method in methods:
        for each in (*method.faults, *method.headers, *method.response_headers):
            if each.__name__ in taken or elements.setdefault(each.__name__, each) is not each:
                raise TypeError(
                    f"{method.parameters.shown}() {each.__name__}: the WSDL has another element "
                    "of this name; rename one of them"
                )
    return elements


def _schema(methods: list[Method], types: Types, elements: dict[str, type]) -> list[str]:
    lines: list[str] = []
    for method in methods:
        lines += _wrapper(method.name, method.request)
        if not method.is_one_way:
            result = [] if method.result is None else [method.result]
            lines += _wrapper(f"{method.name}Response", result)
    lines += [f'<xsd:element name="{name}" type="tns:{name}"/>' for name in elements]
    for structure in types.structures.values():
        lines += _complex_type(structure)
    for enumeration in types.enumerations.values():
        lines.append(f'<xsd:simpleType name="{enumeration.name}">')
        lines.append(f'  <xsd:restriction base="{enumeration.base}">')
        values = (quoteattr(str(each.value)) for each in enumeration.members)
        lines += [f"    <xsd:enumeration value={value}/>" for value in values]
        lines += ["  </xsd:restriction>", "</xsd:simpleType>"]
    return lines


def _wrapper(name: str, members: list[Member]) -> list[str]:
    content = ["  <xsd:complexType>", *_indented(_sequence(members), 4), "  </xsd:complexType>"]
    return [f'<xsd:element name="{name}">', *content, "</xsd:element>"]


def _complex_type(structure: Structure) -> list[str]:
    lines = [f'<xsd:complexType name="{structure.name}">']
    return [*lines, *_indented(_sequence(structure.members), 2), "</xsd:complexType>"]


def _sequence(members: list[Member]) -> list[str]:
    if not members:
        return ["<xsd:sequence/>"]
    lines = []
    for member in members:
        occurs = ' minOccurs="0"' if member.is_optional or member.is_list else ""
        occurs += ' maxOccurs="unbounded"' if member.is_list else ""
        occurs += ' nillable="true"' if member.is_nillable else ""
        lines.append(f'  <xsd:element name="{member.name}" type="{member.type}"{occurs}/>')
    return ["<xsd:sequence>", *lines, "</xsd:sequence>"]


def _messages(methods: list[Method], elements: dict[str, type]) -> list[str]:
    lines = []
    for method in methods:
        wrappers = [method.name] if method.is_one_way else [method.name, f"{method.name}Response"]
        for name in wrappers:
            message = f"{method.name}Request" if name == method.name else name
            lines.append(f'<wsdl:message name="{message}">')
            lines.append(f'  <wsdl:part name="parameters" element="tns:{name}"/>')
            lines.append("</wsdl:message>")
    for name in elements:
        lines.append(f'<wsdl:message name="{name}Message">')
        lines.append(f'  <wsdl:part name="{name}" element="tns:{name}"/>')
        lines.append("</wsdl:message>")
    return lines


def _port_type(method: Method) -> list[str]:
    lines = [f'<wsdl:operation name="{method.name}">']
    if method.documentation:
        lines.append(f"  <wsdl:documentation>{escape(method.documentation)}</wsdl:documentation>")
    lines.append(f'  <wsdl:input message="tns:{method.name}Request"/>')
    if not method.is_one_way:
        lines.append(f'  <wsdl:output message="tns:{method.name}Response"/>')
    for name in method.faults.values():
        lines.append(f'  <wsdl:fault name="{name}" message="tns:{name}Message"/>')
    return [*lines, "</wsdl:operation>"]


def _binding(interface: Interface, methods: list[Method], prefix: str, suffix: str) -> list[str]:
    lines = [f'<wsdl:binding name="{interface.name}{suffix}" type="tns:{interface.name}">']
    lines.append(f'  <{prefix}:binding style="document" transport="{_HTTP}"/>')
    for method in methods:
        action = quoteattr(_action(interface.namespace, method.name))
        lines.append(f'  <wsdl:operation name="{method.name}">')
        lines.append(f"    <{prefix}:operation soapAction={action}/>")
        lines += _indented(_bound("input", prefix, method.headers), 4)
        if not method.is_one_way:
            lines += _indented(_bound("output", prefix, method.response_headers), 4)
        for name in method.faults.values():
            lines.append(f'    <wsdl:fault name="{name}">')
            lines.append(f'      <{prefix}:fault name="{name}" use="literal"/>')
            lines.append("    </wsdl:fault>")
        lines.append("  </wsdl:operation>")
    return [*lines, "</wsdl:binding>"]


def _bound(direction: str, prefix: str, headers: Sequence[type]) -> list[str]:
    names = [each.__name__ for each in headers]
    blocks = [
        f'  <{prefix}:header message="tns:{name}Message" part="{name}" use="literal"/>'
        for name in names
    ]
    body = f'  <{prefix}:body use="literal"/>'
    return [f"<wsdl:{direction}>", body, *blocks, f"</wsdl:{direction}>"]


def _action(namespace: str, name: str) -> str:
    separator = ":" if namespace.startswith("urn:") else "/"
    return f"{namespace.rstrip(separator)}{separator}{name}"


def _port(interface: Interface, prefix: str, suffix: str) -> list[str]:
    binding = f"{interface.name}{suffix}"
    return [
        f'<wsdl:port name="{binding}" binding="tns:{binding}">',
        f'  <{prefix}:address location="http://localhost/"/>',
        "</wsdl:port>",
    ]
