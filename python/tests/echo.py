"""A service that sends back what it gets, for the tests of clients.

It renames the element of the body from `echoX` to `echoXResponse`, and nothing else: what a client
reads is what it has written.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WSDL = Path(__file__).with_name("data") / "echo.wsdl"

_NAME = re.compile(rb"(</?(?:\w+:)?echo[A-Z]\w*)")


#: The names are near the ends of a message, so that long ones need not be searched.
_NEAR = 1000


def answer(message: bytes) -> bytes:
    """Return the response to a request."""
    if len(message) < 2 * _NEAR:
        return _NAME.sub(rb"\1Response", message)
    ends = (_NAME.sub(rb"\1Response", each) for each in (message[:_NEAR], message[-_NEAR:]))
    return message[_NEAR:-_NEAR].join(ends)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A response leaves at once: otherwise it waits for an acknowledgement of its headers.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self._send(answer(self.rfile.read(length)))

    def do_GET(self) -> None:
        port = str(self.server.server_address[1]).encode()
        self._send(WSDL.read_bytes().replace(b"127.0.0.1:9/", b"127.0.0.1:" + port + b"/"))

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/xml; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def service() -> Iterator[str]:
    """Run the service; gives the URL of its WSDL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/echo?wsdl"
    finally:
        server.shutdown()
        server.server_close()
