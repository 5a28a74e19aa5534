"""Schemas."""

from deltasoap.xsd.schema import Schema

__all__ = [
    "Schema",
]
