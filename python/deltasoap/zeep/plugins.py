"""Hooks for messages."""

from deltasoap.plugins import HistoryPlugin
from deltasoap.plugins import Plugin
from deltasoap.plugins import apply_egress
from deltasoap.plugins import apply_ingress

__all__ = [
    "HistoryPlugin",
    "Plugin",
    "apply_egress",
    "apply_ingress",
]
