"""What a WSDL describes: services, ports, bindings, operations and messages.

These are views of what the engine imported; they write and read messages for callers who use
plugins, WS-Security objects and transports of their own.
"""

from __future__ import annotations

from deltasoap.wsdl.document import Document

__all__ = ["Document"]
