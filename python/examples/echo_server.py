"""A service that returns what it is sent, for examples, tests and measurements of clients.

    python echo_server.py [port]

serves the WSDL at http://127.0.0.1:8080/?wsdl, or at another port, and prints this URL. It renames
the element in the body of a request, from `echoX` to `echoXResponse`, and looks at nothing else, so
that measurements against it are those of the client.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

WSDL = Path(__file__).with_name("echo.wsdl")

# The name in the tags of the element in the body, with or without a prefix.
_NAME = re.compile(rb"(</?(?:[\w.-]+:)?echo[A-Z]\w*)")

# These tags are that close to the ends of a message: long ones are not searched in full.
_END = 1000


class EchoHandler(BaseHTTPRequestHandler):
    """Answers GET with the WSDL, and POST with the request as a response."""

    wsdl: ClassVar[Path] = WSDL
    protocol_version = "HTTP/1.1"
    # A response leaves in as few packets as possible, and does not wait for acknowledgements.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_GET(self) -> None:
        """Send the WSDL, with the address of this server."""
        self.send(200, addressed(self.wsdl, self.server.server_address[1]))

    def do_POST(self) -> None:
        """Send the request back."""
        self.send(200, echoed(self.body()))

    def body(self) -> bytes:
        """Return the body of the request."""
        return self.rfile.read(int(self.headers["Content-Length"]))

    def send(self, status: int, body: bytes, media_type: str = "text/xml; charset=utf-8") -> None:
        """Send a response."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: it takes longer than the answer."""


def echoed(request: bytes) -> bytes:
    """Return the response that has the values of a request."""
    if len(request) < 2 * _END:
        return _NAME.sub(rb"\1Response", request)
    ends = (_NAME.sub(rb"\1Response", end) for end in (request[:_END], request[-_END:]))
    return request[_END:-_END].join(ends)


def addressed(wsdl: Path, port: object) -> bytes:
    """Return the text of a WSDL whose service is on a port of this machine."""
    return wsdl.read_bytes().replace(b"127.0.0.1:8080", f"127.0.0.1:{port}".encode())


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler] = EchoHandler) -> Iterator[str]:
    """Serve for a block, on a free port; gives the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
    with ThreadingHTTPServer(("127.0.0.1", port), EchoHandler) as server:
        print(f"http://127.0.0.1:{server.server_port}/?wsdl", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
