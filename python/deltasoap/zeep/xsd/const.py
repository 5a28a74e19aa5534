"""Special values."""

from deltasoap.xsd.const import Nil
from deltasoap.xsd.const import NotSet
from deltasoap.xsd.const import SkipValue
from deltasoap.xsd.const import xsd_ns
from deltasoap.xsd.const import xsi_ns

__all__ = [
    "Nil",
    "NotSet",
    "SkipValue",
    "xsd_ns",
    "xsi_ns",
]
