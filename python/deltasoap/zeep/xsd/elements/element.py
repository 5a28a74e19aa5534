"""Elements."""

from deltasoap.xsd.particles import Element

__all__ = [
    "Element",
]
