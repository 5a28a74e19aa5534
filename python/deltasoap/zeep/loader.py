"""Loading XML."""

from deltasoap.loader import absolute_location
from deltasoap.loader import is_relative_path
from deltasoap.loader import load_external
from deltasoap.loader import load_external_async
from deltasoap.loader import normalize_location
from deltasoap.loader import parse_xml

__all__ = [
    "absolute_location",
    "is_relative_path",
    "load_external",
    "load_external_async",
    "normalize_location",
    "parse_xml",
]
