"""WS-Security."""

from deltasoap.wsse import BinarySignature
from deltasoap.wsse import Compose
from deltasoap.wsse import MemorySignature
from deltasoap.wsse import Signature
from deltasoap.wsse import UsernameToken

__all__ = [
    "BinarySignature",
    "Compose",
    "MemorySignature",
    "Signature",
    "UsernameToken",
]
