"""The base of types."""

from deltasoap.xsd.types import Type

__all__ = [
    "Type",
]
