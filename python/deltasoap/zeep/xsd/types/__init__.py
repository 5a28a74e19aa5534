"""Types."""

from deltasoap.xsd import AnySimpleType
from deltasoap.xsd import AnyType
from deltasoap.xsd import ComplexType
from deltasoap.xsd import ListType
from deltasoap.xsd import Type
from deltasoap.xsd import UnionType

__all__ = [
    "AnySimpleType",
    "AnyType",
    "ComplexType",
    "ListType",
    "Type",
    "UnionType",
]
