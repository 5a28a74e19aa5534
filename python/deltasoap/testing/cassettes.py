"""Recorded answers: a client's exchanges in a file, and replayed from it.

    cassette = Cassette("cassettes/orders.json")
    client = cassette.attach(deltasoap.Client("https://example.com/shop.wsdl"))

The first run calls the service and writes the file. Later ones answer from the file: a request gets
the answer that was recorded for the same operation and the same body. Whitespace, prefixes, headers
and the address may differ.
"""

from __future__ import annotations

import base64
import difflib
import inspect
import io
import json
import os
import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit
from xml.etree import ElementTree

from deltasoap import ns
from deltasoap.envelope import etree_to_string
from deltasoap.exceptions import Error
from deltasoap.http import AsyncHttpTransport, HttpResponse, HttpTransport, sends_bytes

__all__ = ["Cassette", "CassetteError"]

_Client = TypeVar("_Client")
_Entry = dict[str, Any]

#: When requests are sent to the service, and when they are answered from the file.
MODES = {
    "once": "records if there is no file, and only replays if there is one",
    "none": "only replays",
    "new": "replays what is recorded, and records the rest",
    "all": "records everything anew",
}

#: What stands in a file for a secret.
REDACTED = "REDACTED"

#: The headers of responses that are not recorded: secrets, and what belongs to one connection.
_NOT_RECORDED = (
    *("authorization", "set-cookie", "www-authenticate", "proxy-authenticate"),
    *("connection", "content-encoding", "content-length", "date", "keep-alive"),
    "transfer-encoding",
)


class CassetteError(Error):
    """A request has no recorded answer, or a file is not one of recorded answers."""


class Cassette:
    """Exchanges in a file of JSON.

    Credentials are not written: neither HTTP headers with them, nor the content of the header block
    of WS-Security, nor the texts of elements that are named in `secrets`.

    :param path: the file; folders are made when it is written
    :param mode: `once` (record if there is no file), `none` (never record), `new` (record what the
        file does not have), or `all` (record everything anew)
    :param secrets: local names of elements whose texts are not written, in any case of letters
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: str = "once",
        *,
        secrets: Iterable[str] = ("password",),
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"{mode!r} is no mode of a cassette; there are {', '.join(MODES)}")
        self.path = Path(path)
        self.mode = mode
        self._secrets = _secrets(secrets)
        self._lock = threading.Lock()
        is_read = mode != "all" and (mode != "once" or self.path.exists())
        self._is_recording = mode in ("new", "all") or not is_read
        self._entries: list[_Entry] = _read(self.path) if is_read and self.path.exists() else []
        self._left = list(self._entries)

    def attach(self, client: _Client) -> _Client:
        """Let the calls of a client go through this cassette; returns the client."""
        target: Any = client
        target._transport = self.wrap(target.transport)
        for name in ("_engine", "_writes_bytes"):  # of the former transport
            target.__dict__.pop(name, None)
        return client

    def wrap(self, transport: Any = None) -> Any:
        """Return a transport that records and replays, around one that sends.

        Documents of a WSDL that it loads are recorded too. Without a transport, that of the engine
        sends.
        """
        inner = HttpTransport() if transport is None else transport
        is_async = inspect.iscoroutinefunction(getattr(inner, "post_xml", None))
        if sends_bytes(inner):
            return (_AsyncRecorder if is_async else _Recorder)(inner, self)
        return (_AsyncXmlRecorder if is_async else _XmlRecorder)(inner, self)

    @property
    def requests(self) -> list[str]:
        """The operations of all recorded requests."""
        return [each["operation"] for each in self._entries if "operation" in each]

    def _replayed(self, key: _Entry) -> _Entry | None:
        """The recorded answer to a request, which is not given again; None if it is to be sent."""
        with self._lock:
            for entry in self._left:
                if all(entry.get(name) == value for name, value in key.items()):
                    self._left.remove(entry)
                    return entry
        if self._is_recording:
            return None
        raise CassetteError(self._missing(key))

    def _missing(self, key: _Entry) -> str:
        """Say what is recorded instead, and what to do."""
        name = key.get("document") or key["operation"]
        remedy = 'record it with mode="new", or delete the file to record everything anew'
        if not self.path.exists():
            return f"no recorded answer to {name}: there is no file {self.path}; record it first"
        same = [each for each in self._entries if each.get("operation") == key.get("operation")]
        if any(all(each.get(name) == key[name] for name in key) for each in same):
            found = f"it has been replayed as often as it was recorded in {self.path}"
        elif same and "body" in key:
            found = f"{self.path} has another body:\n{_difference(same[0]['body'], key['body'])}\n"
        else:
            found = f"{self.path} has {', '.join(self.requests) or 'no requests'}"
        return f"no recorded answer to {name}: {found}; {remedy}"

    def _record(self, entry: _Entry) -> None:
        with self._lock:
            self._entries.append(entry)
            _write(self.path, self._entries)

    def _key(self, message: bytes, headers: Mapping[str, str]) -> _Entry:
        """What identifies a request: the operation, its action, and the body."""
        lower = {name.lower(): value for name, value in headers.items()}
        action = lower.get("soapaction", "").strip('"')
        if not action:
            found = re.search(r'\baction="?([^";]*)', lower.get("content-type", ""))
            action = found[1] if found else ""
        lines = self._canonical(message)
        # The first line is the start tag of the body, the second one that of its element.
        name = re.match(r"<(?:\w+:)?([^\s>/]+)", lines[1]) if len(lines) > 1 else None
        return {"operation": name[1] if name else "", "action": action, "body": lines}

    def _canonical(self, message: bytes) -> list[str]:
        """The body of an envelope in lines that do not depend on how it was written."""
        text = self._redacted(_envelope_in(message).decode("utf-8", "replace"))
        out = io.StringIO()
        ElementTree.canonicalize(
            text,
            out=out,
            strip_text=True,
            rewrite_prefixes=True,
            qname_aware_attrs=[f"{{{ns.XSI}}}type"],
            exclude_tags=[f"{{{each}}}Header" for each in (ns.SOAP_ENV_11, ns.SOAP_ENV_12)],
        )
        # Without the envelope itself.
        return _lines(out.getvalue())[1:-1]

    def _redacted(self, text: str) -> str:
        """A message without its credentials."""
        start = re.search(r"<(?:[\w.-]+:)?Body\b", text)
        cut = start.start() if start else 0
        header = _SECURITY.sub(rf"\g<1>{REDACTED}\g<3>", text[:cut])
        return self._secrets.sub(_hidden, header + text[cut:])

    def _response(self, response: Any) -> _Entry:
        headers = {
            name: value
            for name, value in response.headers.items()
            if name.lower() not in _NOT_RECORDED
        }
        body = self._content(response.content)
        return {"status": response.status_code, "headers": headers, "body": body}

    def _content(self, content: bytes) -> Any:
        """The bytes of a message as they are in the file: lines of text, or base64."""
        try:
            return self._redacted(content.decode()).split("\n")
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(content).decode()}


class _Recorder:
    """A transport that answers from a cassette, or sends through another one and records that."""

    # The method of the transport itself tells the engine that envelopes are sent as they are.
    post_xml = HttpTransport.post_xml

    def __init__(self, inner: Any, cassette: Cassette) -> None:
        self._inner = inner
        self._cassette = cassette

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def load(self, url: str) -> bytes:
        """Return a document of the WSDL; those of the network are recorded."""
        if not url.startswith(("http://", "https://")):
            return bytes(self._inner.load(url))
        key = {"document": _without_user(url)}
        entry = self._cassette._replayed(key)
        if entry is None:
            content = bytes(self._inner.load(url))
            self._cassette._record({**key, "content": self._cassette._content(content)})
            return content
        return _bytes(entry["content"])

    def post(self, address: str, message: Any, headers: Mapping[str, str]) -> Any:
        """Send a message, or give the answer that was recorded."""
        exchange = _Exchange(self._cassette, address, message, headers)
        if exchange.answer is not None:
            return exchange.answer
        return exchange.recorded(self._inner.post(address, message, headers))


class _AsyncRecorder(_Recorder):
    """A transport whose methods are coroutines."""

    post_xml = AsyncHttpTransport.post_xml  # type: ignore[assignment]

    async def post(self, address: str, message: Any, headers: Mapping[str, str]) -> Any:
        """Send a message, or give the answer that was recorded."""
        exchange = _Exchange(self._cassette, address, message, headers)
        if exchange.answer is not None:
            return exchange.answer
        return exchange.recorded(await self._inner.post(address, message, headers))


class _XmlRecorder(_Recorder):
    """A transport whose class writes envelopes in its own way."""

    def post_xml(self, address: str, envelope: Any, headers: Mapping[str, str]) -> Any:
        """Send an envelope, or give the answer that was recorded."""
        exchange = _Exchange(self._cassette, address, etree_to_string(envelope), headers)
        if exchange.answer is not None:
            return exchange.answer
        return exchange.recorded(self._inner.post_xml(address, envelope, headers))


class _AsyncXmlRecorder(_AsyncRecorder):
    """A transport whose class writes envelopes in its own way, in coroutines."""

    async def post_xml(  # type: ignore[override]
        self, address: str, envelope: Any, headers: Mapping[str, str]
    ) -> Any:
        """Send an envelope, or give the answer that was recorded."""
        exchange = _Exchange(self._cassette, address, etree_to_string(envelope), headers)
        if exchange.answer is not None:
            return exchange.answer
        return exchange.recorded(await self._inner.post_xml(address, envelope, headers))


class _Exchange:
    """A request, and its answer if there is one in the cassette."""

    def __init__(
        self, cassette: Cassette, address: str, message: Any, headers: Mapping[str, str]
    ) -> None:
        self._cassette = cassette
        data = message.encode() if isinstance(message, str) else bytes(message)
        self._key = cassette._key(data, headers)
        self._address = _without_user(address)
        entry = cassette._replayed(self._key)
        self.answer = _answer(entry["response"]) if entry is not None else None

    def recorded(self, response: Any) -> Any:
        """Record the answer, and return it."""
        answer = self._cassette._response(response)
        self._cassette._record({**self._key, "url": self._address, "response": answer})
        return response


def _answer(recorded: _Entry) -> HttpResponse:
    headers = list(recorded["headers"].items())
    return HttpResponse(recorded["status"], headers, _bytes(recorded["body"]))


def _bytes(content: Any) -> bytes:
    if isinstance(content, dict):
        return base64.b64decode(content["base64"])
    return "\n".join(content).encode()


def _secrets(names: Iterable[str]) -> re.Pattern[str]:
    """Matches elements and attributes with one of these names: before, at and after the secret."""
    name = rf"(?:[\w.-]+:)?(?:{'|'.join(map(re.escape, names)) or '(?!)'})"
    element = rf"(?P<start><(?P<name>{name})(?:\s[^>]*)?(?<!/)>).*?(?P<end></(?P=name)\s*>)"
    attribute = rf"(?P<before>\s{name}\s*=\s*)(?:\"[^\"]*\"|'[^']*')"
    return re.compile(f"{element}|{attribute}", flags=re.DOTALL | re.IGNORECASE)


def _hidden(found: re.Match[str]) -> str:
    if found["before"]:
        return f'{found["before"]}"{REDACTED}"'
    return f"{found['start']}{REDACTED}{found['end']}"


#: The header block of WS-Security: start tag, its name, end tag.
_SECURITY = re.compile(
    r"(<((?:[\w.-]+:)?Security)(?:\s[^>]*)?(?<!/)>).*?(</\2\s*>)", flags=re.DOTALL
)


def _envelope_in(message: bytes) -> bytes:
    """The envelope in a message, which may be the first part of several."""
    if message.lstrip()[:1] == b"<":
        return message
    found = re.search(rb"<((?:[\w.-]+:)?Envelope)\b.*?</\1\s*>", message, flags=re.DOTALL)
    envelope = found[0] if found else message
    # The identifiers of other parts are new in every message.
    return re.sub(rb"\bhref=([\"'])cid:.*?\1", b'href="cid:"', envelope)


def _lines(xml: str) -> list[str]:
    """XML with a line for each element that has children, for those who read it."""
    return re.sub(r">(?=<[^/])|(?<=>)(?=</)", lambda found: f"{found[0]}\n", xml).split("\n")


def _difference(recorded: list[str], sent: list[str]) -> str:
    lines = difflib.unified_diff(recorded, sent, "recorded", "sent", lineterm="", n=1)
    return "\n".join(lines)


def _without_user(url: str) -> str:
    """A URL without user, password and query, which may have secrets."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = parts.query if parts.query.lower() in ("wsdl", "singlewsdl") else ""
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


def _read(path: Path) -> list[_Entry]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        entries: list[_Entry] = content["exchanges"]
        return list(entries)
    except (ValueError, TypeError, KeyError) as error:
        text = f"{path} is no file of recorded answers ({error}); delete it to record it anew"
        raise CassetteError(text) from error


def _write(path: Path, entries: list[_Entry]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"exchanges": entries}, ensure_ascii=False, indent=1)
    part = path.with_name(f"{path.name}.part")
    part.write_text(f"{text}\n", encoding="utf-8")
    part.replace(path)
