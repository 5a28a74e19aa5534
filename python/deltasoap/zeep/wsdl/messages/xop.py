"""XOP."""

from deltasoap.wsdl.xop import process_xop

__all__ = [
    "process_xop",
]
