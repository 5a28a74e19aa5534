"""Parts of WSDLs."""

from deltasoap.wsdl.definitions import AbstractMessage
from deltasoap.wsdl.definitions import AbstractOperation
from deltasoap.wsdl.definitions import MessagePart
from deltasoap.wsdl.definitions import Operation
from deltasoap.wsdl.definitions import Port
from deltasoap.wsdl.definitions import PortType
from deltasoap.wsdl.definitions import Service

__all__ = [
    "AbstractMessage",
    "AbstractOperation",
    "MessagePart",
    "Operation",
    "Port",
    "PortType",
    "Service",
]
