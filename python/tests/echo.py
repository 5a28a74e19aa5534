"""The service of the examples with a WSDL of more types, for the tests of clients."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from echo_server import EchoHandler, addressed, echoed, serving

__all__ = ["EchoHandler", "addressed", "echoed", "service", "serving"]


class _Handler(EchoHandler):
    wsdl = Path(__file__).with_name("data") / "echo.wsdl"


@contextmanager
def service() -> Iterator[str]:
    """Run the service; gives the URL of its WSDL."""
    with serving(_Handler) as address:
        yield f"{address}echo?wsdl"
