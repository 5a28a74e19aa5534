"""The types that XML Schema itself defines."""

from deltasoap.xsd.builtins import *  # noqa: F403
from deltasoap.xsd.builtins import BuiltinType, ParseError
from deltasoap.xsd.builtins import __all__ as _all

__all__ = [*_all, "BuiltinType", "ParseError"]
