"""Elements, attributes and groups."""

from deltasoap.xsd import (
    All,
    Any,
    AnyAttribute,
    Attribute,
    AttributeGroup,
    Choice,
    Element,
    Group,
    Sequence,
)

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
