"""WS-Security for the objects of `Client(wsse=...)`."""

from deltasoap.wsse.compose import Compose
from deltasoap.wsse.signature import BinarySignature, MemorySignature, Signature
from deltasoap.wsse.username import UsernameToken

__all__ = ["BinarySignature", "Compose", "MemorySignature", "Signature", "UsernameToken"]
