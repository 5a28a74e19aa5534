"""WS-Addressing for messages that are written by plugins."""

from __future__ import annotations

import uuid
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from deltasoap import ns
from deltasoap.envelope import get_or_create_header
from deltasoap.plugins import Plugin

if TYPE_CHECKING:
    from lxml import etree


class WsAddressingPlugin(Plugin):
    """Adds `Action`, `MessageID` and `To` to each request.

    :param address_url: the address for `To`, instead of the one that is called
    """

    nsmap = {"wsa": ns.WSA}

    def __init__(self, address_url: str | None = None) -> None:
        self.address_url = address_url

    def egress(
        self,
        envelope: etree._Element,
        http_headers: Any,
        operation: Any,
        binding_options: MutableMapping[str, Any],
    ) -> tuple[etree._Element, Any]:
        """Add the header blocks."""
        from lxml import etree

        header = get_or_create_header(envelope)
        blocks = {
            "Action": operation.abstract.wsa_action or operation.soapaction,
            "MessageID": f"urn:uuid:{uuid.uuid4()}",
            "To": self.address_url or binding_options["address"],
        }
        for name, text in blocks.items():
            etree.SubElement(header, f"{{{ns.WSA}}}{name}", nsmap=self.nsmap).text = text
        # One declaration on the header instead of one a block.
        etree.cleanup_namespaces(
            header, top_nsmap=self.nsmap, keep_ns_prefixes=[p for p in header.nsmap if p]
        )
        return envelope, http_headers
