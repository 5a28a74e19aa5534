"""XOP: binary content that travels beside the message."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import unquote

from deltasoap import ns

if TYPE_CHECKING:
    from lxml import etree

    from deltasoap.wsdl.attachments import MessagePack


def process_xop(document: etree._Element, message_pack: MessagePack) -> bool:
    """Put attachments in the places of their `xop:Include`; tells if there was one."""
    includes = list(document.iter(f"{{{ns.XOP}}}Include"))
    for include in includes:
        href = include.get("href", "")
        name = f"<{unquote(href[4:])}>" if href.startswith("cid:") else href
        attachment = message_pack.get_by_content_id(name)
        if attachment is None:
            raise ValueError(f"No part found for: {href!r}")
        parent = include.getparent()
        if parent is not None:
            parent.remove(include)
            parent.text = base64.b64encode(attachment.content).decode()
    return bool(includes)
