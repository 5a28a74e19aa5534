"""References of SOAP encoding."""

from deltasoap.wsdl.multiref import process_multiref

__all__ = [
    "process_multiref",
]
