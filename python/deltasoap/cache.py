"""Keeping loaded documents, in memory or in a file of SQLite."""

from __future__ import annotations

import datetime
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import sqlite3

logger = logging.getLogger(__name__)


class Base:
    """The base of caches: override both methods."""

    def add(self, url: str, content: bytes) -> None:
        """Keep a document."""
        raise NotImplementedError

    def get(self, url: str) -> bytes | str | None:
        """The document, unless it is missing or too old."""
        raise NotImplementedError


class VersionedCacheBase(Base):
    """A cache whose entries carry the version of their format; others' entries count as missing."""

    _version: str

    def _encode_data(self, data: bytes) -> bytes:
        import base64

        return self._version_string + base64.b64encode(data)

    def _decode_data(self, data: bytes) -> bytes | None:
        import base64

        if not data.startswith(self._version_string):
            return None
        return base64.b64decode(data[len(self._version_string) :])

    @property
    def _version_string(self) -> bytes:
        return f"$ZEEP:{self._version}$".encode("ascii")


class InMemoryCache(Base):
    """Keeps documents for the life of the process; all instances share them."""

    _cache: ClassVar[dict[str, tuple[datetime.datetime, bytes | str]]] = {}

    def __init__(self, timeout: float | None = 3600) -> None:
        self._timeout = timeout

    def add(self, url: str, content: bytes | str) -> None:
        """Keep a document."""
        if not isinstance(content, (bytes, str)):
            raise TypeError(f"a document is bytes, not {type(content).__name__}")
        self._cache[url] = (_now(), content)

    def get(self, url: str) -> bytes | str | None:
        """The document, unless it is missing or too old."""
        created, content = self._cache.get(url, (None, None))
        if created is None or _is_expired(created, self._timeout):
            logger.debug("Cache MISS for %s", url)
            return None
        logger.debug("Cache HIT for %s", url)
        return content


class SqliteCache(VersionedCacheBase):
    """Keeps documents in a file, by default in the user's folder for caches."""

    _version = "1"

    def __init__(self, path: str | None = None, timeout: float | None = 3600) -> None:
        if path == ":memory:":
            raise ValueError(
                "SqliteCache is shared by threads, which ':memory:' cannot be: use InMemoryCache"
            )
        self._timeout = timeout
        self._lock = threading.RLock()
        self._db_path = path or _default_path()
        with self.db_connection() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS request (created timestamp, url text, content text)"
            )
            connection.commit()

    @contextmanager
    def db_connection(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file, for one thread at a time."""
        import sqlite3

        with self._lock, closing(sqlite3.connect(self._db_path)) as connection:
            yield connection

    def add(self, url: str, content: bytes) -> None:
        """Keep a document."""
        logger.debug("Caching contents of %s", url)
        with self.db_connection() as connection:
            connection.execute("DELETE FROM request WHERE url = ?", (url,))
            connection.execute(
                "INSERT INTO request (created, url, content) VALUES (?, ?, ?)",
                (_now().isoformat(" "), url, self._encode_data(content)),
            )
            connection.commit()

    def get(self, url: str) -> bytes | None:
        """The document, unless it is missing or too old."""
        with self.db_connection() as connection:
            query = connection.execute("SELECT created, content FROM request WHERE url = ?", (url,))
            row = query.fetchone()
        if row is None or _is_expired(datetime.datetime.fromisoformat(row[0]), self._timeout):
            logger.debug("Cache MISS for %s", url)
            return None
        logger.debug("Cache HIT for %s", url)
        return self._decode_data(row[1])


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def _is_expired(created: Any, timeout: float | None) -> bool:
    if timeout is None:
        return False
    if created.tzinfo is None:
        created = created.replace(tzinfo=datetime.timezone.utc)
    return bool(_now() > created + datetime.timedelta(seconds=timeout))


def _default_path() -> str:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.name == "nt":
        home = os.environ.get("LOCALAPPDATA", home)
    folder = os.path.join(home, "deltasoap")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, "documents.db")
