"""Services and operations."""

from deltasoap.proxy import AsyncOperationProxy
from deltasoap.proxy import AsyncServiceProxy
from deltasoap.proxy import OperationProxy
from deltasoap.proxy import ServiceProxy

__all__ = [
    "AsyncOperationProxy",
    "AsyncServiceProxy",
    "OperationProxy",
    "ServiceProxy",
]
