"""Types and values of XML Schema, to build requests of and to ask what a WSDL describes."""

from deltasoap.xsd.builtins import *  # noqa: F403
from deltasoap.xsd.builtins import __all__ as _builtins
from deltasoap.xsd.const import Nil, NotSet, SkipValue
from deltasoap.xsd.particles import (
    All,
    AnyAttribute,
    Attribute,
    AttributeGroup,
    Choice,
    Element,
    Group,
    Sequence,
)
from deltasoap.xsd.particles import Any_ as Any
from deltasoap.xsd.schema import Schema
from deltasoap.xsd.types import AnySimpleType, AnyType, ComplexType, ListType, Type, UnionType
from deltasoap.xsd.values import AnyObject, CompoundValue

__all__ = [
    "All",
    "Any",
    "AnyAttribute",
    "AnyObject",
    "AnySimpleType",
    "AnyType",
    "Attribute",
    "AttributeGroup",
    "Choice",
    "ComplexType",
    "CompoundValue",
    "Element",
    "Group",
    "ListType",
    "Nil",
    "NotSet",
    "Schema",
    "Sequence",
    "SkipValue",
    "Type",
    "UnionType",
    *_builtins,
]
