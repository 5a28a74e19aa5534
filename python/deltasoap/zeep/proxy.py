"""Services and operations."""

from deltasoap.proxy import AsyncOperationProxy, AsyncServiceProxy, OperationProxy, ServiceProxy

__all__ = [
    "AsyncOperationProxy",
    "AsyncServiceProxy",
    "OperationProxy",
    "ServiceProxy",
]
