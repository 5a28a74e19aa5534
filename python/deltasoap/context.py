"""What a function of a service can learn about its request, and add to its response."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, is_dataclass
from typing import Any

__all__ = ["Attachment", "Context"]


@dataclass(frozen=True)
class Attachment:
    """A part that came with a message: bytes with a media type, and an ID to refer to it."""

    content: bytes
    content_type: str = "application/octet-stream"
    content_id: str = ""


class Context:
    """The request that a function answers. A parameter named `context`, or annotated with this
    class, gets it.

    :ivar operation: the name of the operation
    :ivar soap: the version of SOAP, `"1.1"` or `"1.2"`
    :ivar action: the action, if the request has one
    :ivar target: the path and query of the HTTP request
    :ivar peer: host and port of the client, where the server knows them
    :ivar principal: the name of the sender, if it was authenticated
    :ivar http_headers: by their names in lower case
    :ivar headers: the header blocks, each with its name as `{namespace}local` and its value
    :ivar attachments: the parts that came with the message and that no value refers to
    """

    def __init__(self, known: dict[str, Any]) -> None:
        self.operation: str = known["operation"]
        self.soap: str = known["soap"]
        self.action: str | None = known["action"]
        self.target: str = known["target"]
        self.peer: tuple[str, int] | None = known["peer"]
        self.principal: str | None = known["principal"]
        self.http_headers = _joined(known["http_headers"])
        self.headers: list[tuple[str, Any]] = known["headers"]
        self.attachments = [
            Attachment(content, content_type, content_id)
            for content_id, content_type, content in known["attachments"]
        ]
        self._added: list[tuple[str | None, Any]] = []
        self._attached: list[tuple[str, str, bytes]] = []

    def header(self, name: str | type) -> Any:
        """The value of the first header block of a name, or of a dataclass; None without one.

        The name is `{namespace}local`, or the local name alone.
        """
        wanted = name if isinstance(name, str) else name.__name__
        for found, value in self.headers:
            if wanted in (found, found.rpartition("}")[2]):
                return value
        return None

    def add_header(self, value: Any, name: str | None = None) -> None:
        """Add a header block to the response.

        :param value: the value of an element that the WSDL declares, or an XML element
        :param name: the name of the declared element; for a dataclass, that of its class
        """
        if name is None and is_dataclass(value):
            name = type(value).__name__
        self._added.append((name, value))

    def attach(
        self,
        content: bytes,
        content_type: str = "application/octet-stream",
        content_id: str | None = None,
    ) -> str:
        """Send a part with the response, and return its ID."""
        content_id = content_id or f"{uuid.uuid4()}@deltasoap"
        self._attached.append((content_id, content_type, content))
        return content_id

    def __repr__(self) -> str:
        return f"<Context of {self.operation} from {self.principal or self.peer}>"


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        joined[name] = f"{joined[name]}, {value}" if name in joined else value
    return joined
