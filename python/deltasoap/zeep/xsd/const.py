"""Special values."""

from deltasoap.xsd.const import Nil, NotSet, SkipValue, xsd_ns, xsi_ns

__all__ = [
    "Nil",
    "NotSet",
    "SkipValue",
    "xsd_ns",
    "xsi_ns",
]
