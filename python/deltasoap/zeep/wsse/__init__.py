"""WS-Security."""

from deltasoap.wsse import BinarySignature, Compose, MemorySignature, Signature, UsernameToken

__all__ = [
    "BinarySignature",
    "Compose",
    "MemorySignature",
    "Signature",
    "UsernameToken",
]
