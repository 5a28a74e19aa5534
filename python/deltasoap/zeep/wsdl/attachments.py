"""Attachments."""

from deltasoap.wsdl.attachments import Attachment, MessagePack

__all__ = [
    "Attachment",
    "MessagePack",
]
