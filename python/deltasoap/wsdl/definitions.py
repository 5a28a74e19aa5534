"""The parts of a WSDL: messages, port types, operations, ports and services."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lxml import etree

    from deltasoap.wsdl.bindings import Binding


class MessagePart(NamedTuple):
    """A part of a message: an element, or a type."""

    element: Any
    type: Any


@dataclass
class AbstractMessage:
    """A message of the WSDL: named parts."""

    name: etree.QName
    parts: dict[str, MessagePart] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<AbstractMessage(name={self.name.text!r})>"


@dataclass(repr=False)
class AbstractOperation:
    """An operation of a port type."""

    name: str
    input_message: AbstractMessage | None = None
    output_message: AbstractMessage | None = None
    fault_messages: dict[str, AbstractMessage] = field(default_factory=dict)
    parameter_order: list[str] | None = None
    wsa_action: str | None = None


@dataclass
class PortType:
    """Operations under a common name."""

    name: etree.QName
    operations: dict[str, AbstractOperation]

    def __repr__(self) -> str:
        return f"<PortType(name={self.name.text!r})>"


class Operation:
    """An operation of a binding, with its messages."""

    def __init__(self, name: str, binding: Any) -> None:
        self.name = name
        self.binding = binding
        self.abstract: AbstractOperation | None = None
        self.style: str | None = None
        self.input: Any = None
        self.output: Any = None
        self.faults: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(name={self.name!r}, style={self.style!r})>"

    def __str__(self) -> str:
        if self.input is None:
            return f"{self.name}(missing input message)"
        call = f"{self.name}({self.input.signature()})"
        if self.output is None:
            return call
        return f"{call} -> {self.output.signature(as_output=True)}"

    def create(self, *args: Any, **kwargs: Any) -> Any:
        """The request for arguments."""
        return self.input.serialize(*args, **kwargs)


@dataclass
class Port:
    """A binding at an address."""

    name: str
    binding: Binding
    binding_options: dict[str, Any]

    def __str__(self) -> str:
        return f"Port: {self.name} ({self.binding})"


@dataclass
class Service:
    """Ports under a common name."""

    name: str
    ports: dict[str, Port]

    def __str__(self) -> str:
        return f"Service: {self.name}"
