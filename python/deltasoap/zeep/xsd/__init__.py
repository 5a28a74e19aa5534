"""Types and values of XML Schema."""

from deltasoap.xsd import *  # noqa: F403
from deltasoap.xsd import __all__ as _all

__all__ = _all
