"""WS-Addressing."""

from deltasoap.wsa import WsAddressingPlugin

__all__ = [
    "WsAddressingPlugin",
]
