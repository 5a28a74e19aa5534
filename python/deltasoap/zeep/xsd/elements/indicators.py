"""Groups."""

from deltasoap.xsd.particles import All, Choice, Group, Sequence

__all__ = [
    "All",
    "Choice",
    "Group",
    "Sequence",
]
