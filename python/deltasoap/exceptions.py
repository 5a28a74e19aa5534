"""What this package raises.

Every class derives from `Error`. The names and attributes are those that users of zeep know;
the texts say where something is wrong and what helps.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any


class Error(Exception):
    """The base of everything that this package raises."""

    def __init__(self, message: str | None = "") -> None:
        super().__init__(message)
        self.message = message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"


class XMLSyntaxError(Error):
    """A document is not well-formed XML; `content` is the document."""

    def __init__(self, message: str | None = "", *, content: bytes | str | None = None) -> None:
        super().__init__(message)
        self.content = content


class XMLParseError(Error):
    """A document is XML, but not what its schema or WSDL describes."""

    def __init__(
        self,
        message: str | None = "",
        *,
        filename: str | None = None,
        sourceline: int | None = None,
    ) -> None:
        super().__init__(message)
        self.filename = filename
        self.sourceline = sourceline

    def __str__(self) -> str:
        if self.filename and self.sourceline:
            return f"{self.message} ({self.filename}:{self.sourceline})"
        return str(self.message)


class UnexpectedElementError(Error):
    """An element stands where the schema does not allow it."""


class WsdlSyntaxError(Error):
    """A WSDL breaks the rules of WSDL."""


class TransportError(Error):
    """HTTP failed: a status without a SOAP message, or a body that is not one."""

    def __init__(
        self,
        message: str | None = "",
        status_code: int = 0,
        content: bytes | str | None = None,
    ) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.content = content


class ConnectionError(TransportError):
    """The service could not be reached, or the connection broke."""


class Timeout(TransportError):
    """The service took longer than a call may take."""


class LookupError(Error, builtins.LookupError):
    """A namespace is known, but has nothing of this name."""

    def __init__(
        self,
        message: str | None = "",
        *,
        qname: Any = None,
        item_name: str | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(message)
        self.qname = qname
        self.item_name = item_name
        self.location = location


class NamespaceError(Error):
    """No schema declares the namespace."""


class Fault(Error):
    """The service answered with a SOAP fault.

    `detail` is the element of the fault's detail (lxml), `subcodes` the codes of SOAP 1.2.
    """

    def __init__(
        self,
        message: str | None,
        code: str | None = None,
        actor: str | None = None,
        detail: Any = None,
        subcodes: list[Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.actor = actor
        self.detail = detail
        self.subcodes = subcodes


class ZeepWarning(RuntimeWarning):
    """A warning under the name that users of zeep filter by."""


class ValidationError(Error):
    """A value is not one of its type; `path` leads to it from the top of the message."""

    def __init__(
        self, message: str | None = "", *, path: Sequence[Any] | str | None = None
    ) -> None:
        super().__init__(message)
        self.path = path.split(".") if isinstance(path, str) and path else list(path or [])

    def __str__(self) -> str:
        if self.path:
            return f"{self.message} ({'.'.join(str(step) for step in self.path)})"
        return str(self.message)


class SignatureVerificationFailed(Error):
    """A signed message does not match its signature, or was not signed with this key."""


class IncompleteMessage(Error):
    """A message of the WSDL names a type or element that does not exist."""


class IncompleteOperation(Error):
    """A binding names an operation that its port type does not have."""


class DTDForbidden(Error):
    """A document has a DOCTYPE, which `Settings.forbid_dtd` rules out."""

    def __init__(self, name: str | None, sysid: str | None, pubid: str | None) -> None:
        super().__init__()
        self.name = name
        self.sysid = sysid
        self.pubid = pubid

    def __str__(self) -> str:
        return (
            f"DTDForbidden(name={self.name!r}, system_id={self.sysid!r}, public_id={self.pubid!r})"
        )


class EntitiesForbidden(Error):
    """A document declares an entity, which `Settings.forbid_entities` rules out."""

    def __init__(self, name: str | None, content: str | None) -> None:
        super().__init__()
        self.name = name
        self.content = content

    def __str__(self) -> str:
        return f"EntitiesForbidden(name={self.name!r}, content={self.content!r})"


class ExternalReferenceForbidden(Error):
    """A document refers to another one, which `Settings.forbid_external` rules out."""

    def __init__(self, url: str) -> None:
        super().__init__(f"External reference to {url!r} is forbidden")
        self.url = url

    def __str__(self) -> str:
        return f"ExternalReferenceForbidden(url={self.url!r})"
