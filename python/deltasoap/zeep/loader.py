"""Loading XML."""

from deltasoap.loader import (
    absolute_location,
    is_relative_path,
    load_external,
    load_external_async,
    normalize_location,
    parse_xml,
)

__all__ = [
    "absolute_location",
    "is_relative_path",
    "load_external",
    "load_external_async",
    "normalize_location",
    "parse_xml",
]
