"""Several WS-Security objects as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lxml import etree


class Compose:
    """Applies and verifies objects in their order."""

    def __init__(self, wsse_objects: Sequence[Any]) -> None:
        self.wsse_objects = wsse_objects

    def apply(self, envelope: etree._Element, headers: Any) -> tuple[etree._Element, Any]:
        """Secure a request."""
        for each in self.wsse_objects:
            envelope, headers = each.apply(envelope, headers)
        return envelope, headers

    def verify(self, envelope: etree._Element) -> None:
        """Check an answer; raises SignatureVerificationFailed."""
        for each in self.wsse_objects:
            each.verify(envelope)
