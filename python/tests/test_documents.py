"""Settings, caches, transports and the loading of documents."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from deltasoap import exceptions
from deltasoap.cache import InMemoryCache, SqliteCache
from deltasoap.loader import absolute_location, load_external, normalize_location, parse_xml
from deltasoap.settings import Settings
from deltasoap.transports import Transport

ENTITY = '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'


def test_settings_apply_to_a_block_and_a_thread() -> None:
    settings = Settings(strict=False)
    seen: list[bool] = []
    with settings(raw_response=True, strict=True):
        with settings(raw_response=False):
            assert settings.raw_response is False
        assert settings.raw_response is True and settings.strict is True
        other = threading.Thread(target=lambda: seen.append(settings.raw_response))
        other.start()
        other.join()
    assert seen == [False]
    assert settings.raw_response is False and settings.strict is False


def test_settings_reject_unknown_options() -> None:
    with (
        pytest.raises(AttributeError, match="no option 'rav_response'"),
        Settings()(rav_response=1),
    ):
        pass


def test_entities_and_doctypes_are_forbidden() -> None:
    with pytest.raises(exceptions.EntitiesForbidden, match="name='e'"):
        parse_xml(ENTITY, None)
    allowed = Settings(forbid_entities=False)
    assert parse_xml(ENTITY, None, settings=allowed).tag == "a"
    with pytest.raises(exceptions.DTDForbidden):
        parse_xml(ENTITY, None, settings=Settings(forbid_dtd=True))


def test_malformed_documents() -> None:
    with pytest.raises(exceptions.XMLSyntaxError) as caught:
        parse_xml("<a><b></a>", None)
    assert caught.value.content == "<a><b></a>"
    assert parse_xml("<a><b></a>", None, settings=Settings(strict=False)).tag == "a"


def test_external_documents_can_be_forbidden() -> None:
    with pytest.raises(exceptions.ExternalReferenceForbidden, match=r"url='http://h/a\.xsd'"):
        load_external("http://h/a.xsd", None, settings=Settings(forbid_external=True))


@pytest.mark.parametrize(
    ("location", "base", "expected"),
    [
        ("b.xsd", "http://h/x/a.wsdl", "http://h/x/b.xsd"),
        ("http://h/b.xsd", "/x/a.wsdl", "http://h/b.xsd"),
        ("/b.xsd", "/x/a.wsdl", "/b.xsd"),
        ("../b.xsd", "/x/y/a.wsdl", "/x/b.xsd"),
        ("b.xsd", None, "b.xsd"),
    ],
)
def test_locations(location: str, base: str | None, expected: str) -> None:
    assert absolute_location(location, base) == expected


def test_https_is_kept_for_the_same_host() -> None:
    settings = Settings()
    assert normalize_location(settings, "http://h/b", "https://h/a") == "https://h/b"
    assert normalize_location(settings, "http://i/b", "https://h/a") == "http://i/b"


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_caches_keep_documents_until_they_expire(kind: str, tmp_path: Path) -> None:
    path = str(tmp_path / "cache.db")
    make: Any = InMemoryCache if kind == "memory" else lambda **more: SqliteCache(path, **more)
    cache = make()
    assert cache.get("http://h/missing") is None
    cache.add("http://h/a", b"<a/>")
    cache.add("http://h/a", b"<b/>")
    assert cache.get("http://h/a") == b"<b/>"
    assert make(timeout=-1).get("http://h/a") is None
    assert make(timeout=None).get("http://h/a") == b"<b/>"


def test_a_cache_of_sqlite_is_a_file() -> None:
    with pytest.raises(ValueError, match="InMemoryCache"):
        SqliteCache(":memory:")


def test_a_transport_loads_paths_and_file_urls(tmp_path: Path) -> None:
    path = tmp_path / "a b.wsdl"
    path.write_bytes(b"<a/>")
    transport = Transport()
    assert transport.load(str(path)) == b"<a/>"
    assert transport.load(path.as_uri()) == b"<a/>"
    with pytest.raises(ValueError, match="No url"):
        transport.load("")


def test_a_transport_has_other_timeouts_for_a_block() -> None:
    transport = Transport(operation_timeout=5)
    with pytest.raises(KeyError), transport.settings(timeout=1):
        assert transport.operation_timeout == 1
        raise KeyError
    assert transport.operation_timeout == 5
