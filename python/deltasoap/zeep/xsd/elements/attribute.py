"""Attributes."""

from deltasoap.xsd.particles import Attribute
from deltasoap.xsd.particles import AttributeGroup

__all__ = [
    "Attribute",
    "AttributeGroup",
]
