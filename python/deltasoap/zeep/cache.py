"""Keeping loaded documents."""

from deltasoap.cache import Base, InMemoryCache, SqliteCache, VersionedCacheBase, _is_expired

__all__ = [
    "Base",
    "InMemoryCache",
    "SqliteCache",
    "VersionedCacheBase",
    "_is_expired",
]
