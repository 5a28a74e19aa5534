"""SOAP with attachments: a message in a `multipart/related` body, and parts beside it."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from email.message import Message


class Headers(Mapping[str, str]):
    """The headers of a part, whose names are compared without case."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._values = {name.lower(): (name, value) for name, value in headers.items()}

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._values.values())

    def __len__(self) -> int:
        return len(self._values)


@dataclass
class BodyPart:
    """A part as it came."""

    headers: dict[bytes, bytes]
    content: bytes
    encoding: str = "utf-8"

    @classmethod
    def decoded(cls, headers: list[tuple[str, str]], content: bytes) -> BodyPart:
        """A part whose content has been decoded."""
        kept = {
            name.encode(): value.encode()
            for name, value in headers
            if name.lower() != "content-transfer-encoding"
        }
        return cls(kept, content)


class Attachment:
    """A part with its headers decoded."""

    def __init__(self, part: Any) -> None:
        encoding = part.encoding or "utf-8"
        self.headers = Headers(
            {name.decode(encoding): value.decode(encoding) for name, value in part.headers.items()}
        )
        self.content_type = self.headers.get("Content-Type")
        self.content_id = self.headers.get("Content-ID")
        self.content_location = self.headers.get("Content-Location")
        self._part = part

    def __repr__(self) -> str:
        return f"<Attachment({self.content_id!r}, {self.content_type!r})>"

    @cached_property
    def content(self) -> bytes:
        """The bytes, without the encoding of the transfer."""
        encoding = self.headers.get("Content-Transfer-Encoding")
        content: bytes = self._part.content
        if encoding == "base64":
            return base64.b64decode(content)
        return content.strip(b"\r\n") if encoding == "binary" else content


class MessagePack:
    """The value of a message as `root`, and the attachments that came with it."""

    root: Any = None

    def __init__(self, parts: list[Any]) -> None:
        self._parts = parts

    def __repr__(self) -> str:
        return f"<MessagePack(attachments={self.attachments!r})>"

    def _set_root(self, root: Any) -> None:
        self.root = root

    @cached_property
    def attachments(self) -> list[Attachment]:
        """The attachments in their order."""
        return [Attachment(part) for part in self._parts]

    def get_by_content_id(self, content_id: str) -> Attachment | None:
        """The attachment of an id, `<...>` included."""
        return next((each for each in self.attachments if each.content_id == content_id), None)


def media_type(content_type: str) -> str:
    """A content type without its parameters."""
    return _parsed(content_type).get_content_type()


def related_parts(body: bytes, content_type: str) -> tuple[bytes, list[BodyPart]]:
    """The message and the other parts of a `multipart/related` body."""
    boundary = _parsed(content_type).get_boundary()
    if boundary is None:
        return body, []
    line = re.compile(
        rb"(?:\A|\r?\n)--" + re.escape(boundary.encode()) + rb"(--)?[ \t]*(?:\r?\n|\Z)"
    )
    pieces, at = [], None
    for found in line.finditer(body):
        if at is not None or _is_part(body[: found.start()]):
            pieces.append(body[at or 0 : found.start()])
        # The line break before a boundary belongs to it, and may also end the one before.
        at = found.end()
        if found.group(1):
            break
    parts = [_part(piece) for piece in pieces]
    return (parts[0].content, parts[1:]) if parts else (body, [])


def _part(piece: bytes) -> BodyPart:
    # Some senders put an empty line before the headers; otherwise it says that there are none.
    start = piece.lstrip() if _is_part(piece) else re.sub(rb"\A(\r?\n)", rb"\1\1", piece)
    head, _, content = start.partition(b"\r\n\r\n")
    headers = {}
    for line in re.split(rb"\r?\n(?![ \t])", head.strip()):
        name, _, value = line.partition(b":")
        headers[name.strip()] = value.strip()
    return BodyPart(headers, content)


def _is_part(piece: bytes) -> bool:
    """Whether it starts with a header. Some senders leave out the first boundary."""
    return re.match(rb"(\r?\n)?[\w-]+:", piece) is not None


def _parsed(content_type: str) -> Message:
    from email.message import Message

    message = Message()
    message["Content-Type"] = content_type
    return message
