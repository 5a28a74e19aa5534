"""Several objects as one."""

from deltasoap.wsse.compose import Compose

__all__ = [
    "Compose",
]
