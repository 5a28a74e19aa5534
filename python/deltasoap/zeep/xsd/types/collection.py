"""Lists and unions."""

from deltasoap.xsd.types import ListType
from deltasoap.xsd.types import UnionType

__all__ = [
    "ListType",
    "UnionType",
]
