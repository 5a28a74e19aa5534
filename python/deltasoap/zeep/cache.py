"""Keeping loaded documents."""

from deltasoap.cache import Base
from deltasoap.cache import InMemoryCache
from deltasoap.cache import SqliteCache
from deltasoap.cache import VersionedCacheBase
from deltasoap.cache import _is_expired

__all__ = [
    "Base",
    "InMemoryCache",
    "SqliteCache",
    "VersionedCacheBase",
    "_is_expired",
]
