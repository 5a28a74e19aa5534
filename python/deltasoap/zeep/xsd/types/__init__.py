"""Types."""

from deltasoap.xsd import AnySimpleType, AnyType, ComplexType, ListType, Type, UnionType

__all__ = [
    "AnySimpleType",
    "AnyType",
    "ComplexType",
    "ListType",
    "Type",
    "UnionType",
]
