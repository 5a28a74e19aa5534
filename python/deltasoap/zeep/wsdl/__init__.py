"""WSDLs."""

from deltasoap.wsdl import Document

__all__ = [
    "Document",
]
