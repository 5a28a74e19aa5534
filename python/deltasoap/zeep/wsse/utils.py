"""Parts of security headers."""

from typing import Any

from deltasoap.wsse import utils
from deltasoap.wsse.utils import (
    NSMAP,
    ensure_id,
    get_security_header,
    get_timestamp,
    get_unique_id,
)

__all__ = ["NSMAP", "ensure_id", "get_security_header", "get_timestamp", "get_unique_id"]


def __getattr__(name: str) -> Any:
    return getattr(utils, name)
