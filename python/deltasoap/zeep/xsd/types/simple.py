"""Simple types."""

from deltasoap.xsd.types import AnySimpleType

__all__ = [
    "AnySimpleType",
]
