"""Signatures."""

from deltasoap.wsse.signature import (
    BinarySignature,
    MemorySignature,
    Signature,
    sign_envelope,
    verify_envelope,
)

__all__ = [
    "BinarySignature",
    "MemorySignature",
    "Signature",
    "sign_envelope",
    "verify_envelope",
]
