"""Messages."""

from deltasoap.wsdl.messages import DocumentMessage, RpcMessage, SerializedMessage

__all__ = [
    "DocumentMessage",
    "RpcMessage",
    "SerializedMessage",
]
