"""Options of clients."""

from deltasoap.settings import Settings

__all__ = [
    "Settings",
]
