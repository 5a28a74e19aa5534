"""Lists and unions."""

from deltasoap.xsd.types import ListType, UnionType

__all__ = [
    "ListType",
    "UnionType",
]
