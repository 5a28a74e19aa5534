"""Servers that answer in a fixed way, slowly or never, and an order of the shop."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WSDL = Path(__file__).parents[2] / "crates/deltasoap-dynamic/tests/data/shop.wsdl"

ORDER: dict[str, Any] = {"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}

ENVELOPE = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>{}</s:Body></s:Envelope>'


class Server(ThreadingHTTPServer):
    """A server that answers everything in the same way."""

    daemon_threads = True
    answer: tuple[int, str, bytes] = (200, "text/xml", b"")
    delay = 0.0
    location = ""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}/shop"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer()

    def _answer(self) -> None:
        time.sleep(self.server.delay)
        status, media_type, content = self.server.answer
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def server() -> Iterator[Server]:
    """Run a server."""
    running = Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=running.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield running
    finally:
        running.shutdown()
        running.server_close()


@contextmanager
def silence() -> Iterator[str]:
    """Listen at a URL where nothing ever answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/shop"


def at(client: Any, url: str, binding: str = "{urn:shop}Shop11") -> Any:
    """The shop's operations at another address."""
    return client.create_service(binding, url)
