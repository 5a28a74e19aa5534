"""anyType."""

from deltasoap.xsd.types import AnyType

__all__ = [
    "AnyType",
]
