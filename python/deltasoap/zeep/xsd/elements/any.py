"""Wildcards."""

from deltasoap.xsd.particles import Any_ as Any
from deltasoap.xsd.particles import AnyAttribute

__all__ = [
    "Any",
    "AnyAttribute",
]
