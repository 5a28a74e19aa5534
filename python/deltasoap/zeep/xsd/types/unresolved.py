"""Types that are named but not looked up; here every type is looked up when it is asked for."""

from deltasoap.xsd.types import Type

__all__ = ["UnresolvedType"]


class UnresolvedType(Type):
    """No type is an instance of this."""
