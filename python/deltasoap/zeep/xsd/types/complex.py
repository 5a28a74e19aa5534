"""Complex types."""

from deltasoap.xsd.types import ComplexType

__all__ = [
    "ComplexType",
]
