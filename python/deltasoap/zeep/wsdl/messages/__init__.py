"""Messages."""

from deltasoap.wsdl.messages import DocumentMessage
from deltasoap.wsdl.messages import RpcMessage
from deltasoap.wsdl.messages import SerializedMessage

__all__ = [
    "DocumentMessage",
    "RpcMessage",
    "SerializedMessage",
]
