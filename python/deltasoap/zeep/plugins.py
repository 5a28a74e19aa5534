"""Hooks for messages."""

from deltasoap.plugins import HistoryPlugin, Plugin, apply_egress, apply_ingress

__all__ = [
    "HistoryPlugin",
    "Plugin",
    "apply_egress",
    "apply_ingress",
]
