"""UsernameToken."""

from deltasoap.wsse.username import UsernameToken

__all__ = [
    "UsernameToken",
]
