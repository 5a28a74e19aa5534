"""SOAP for Python: clients that read a WSDL, over an engine in Rust."""

from __future__ import annotations
