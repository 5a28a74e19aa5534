"""Printing."""

from deltasoap.xsd.printer import PrettyPrinter

__all__ = [
    "PrettyPrinter",
]
