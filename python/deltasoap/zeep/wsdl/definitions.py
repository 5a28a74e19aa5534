"""Parts of WSDLs."""

from deltasoap.wsdl.definitions import (
    AbstractMessage,
    AbstractOperation,
    MessagePart,
    Operation,
    Port,
    PortType,
    Service,
)

__all__ = [
    "AbstractMessage",
    "AbstractOperation",
    "MessagePart",
    "Operation",
    "Port",
    "PortType",
    "Service",
]
