"""Attachments."""

from deltasoap.wsdl.attachments import Attachment
from deltasoap.wsdl.attachments import MessagePack

__all__ = [
    "Attachment",
    "MessagePack",
]
