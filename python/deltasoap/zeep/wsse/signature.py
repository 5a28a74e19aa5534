"""Signatures."""

from deltasoap.wsse.signature import BinarySignature
from deltasoap.wsse.signature import MemorySignature
from deltasoap.wsse.signature import Signature
from deltasoap.wsse.signature import sign_envelope
from deltasoap.wsse.signature import verify_envelope

__all__ = [
    "BinarySignature",
    "MemorySignature",
    "Signature",
    "sign_envelope",
    "verify_envelope",
]
