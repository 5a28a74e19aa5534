"""Groups."""

from deltasoap.xsd.particles import All
from deltasoap.xsd.particles import Choice
from deltasoap.xsd.particles import Group
from deltasoap.xsd.particles import Sequence

__all__ = [
    "All",
    "Choice",
    "Group",
    "Sequence",
]
