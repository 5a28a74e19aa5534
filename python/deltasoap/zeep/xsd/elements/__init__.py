"""Elements, attributes and groups."""

from deltasoap.xsd import All
from deltasoap.xsd import Any
from deltasoap.xsd import AnyAttribute
from deltasoap.xsd import Attribute
from deltasoap.xsd import AttributeGroup
from deltasoap.xsd import Choice
from deltasoap.xsd import Element
from deltasoap.xsd import Group
from deltasoap.xsd import Sequence

__all__ = [
    "All",
    "Any",
    "AnyAttribute",
    "Attribute",
    "AttributeGroup",
    "Choice",
    "Element",
    "Group",
    "Sequence",
]
