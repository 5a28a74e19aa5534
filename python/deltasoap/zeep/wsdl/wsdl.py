"""WSDLs."""

from deltasoap.wsdl.document import Document

__all__ = [
    "Document",
]
