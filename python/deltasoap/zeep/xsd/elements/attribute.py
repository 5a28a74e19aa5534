"""Attributes."""

from deltasoap.xsd.particles import Attribute, AttributeGroup

__all__ = [
    "Attribute",
    "AttributeGroup",
]
