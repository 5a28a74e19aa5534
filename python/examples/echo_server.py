"""A service that returns what it is sent, for the programs of the README and the guide.

    python echo_server.py

serves the WSDL at http://127.0.0.1:8080/?wsdl. It changes the names of elements in the text of a
request and reads nothing else, so that measurements against it are those of the client.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WSDL = Path(__file__).with_name("echo.wsdl")

# The tags of the element in the body, with or without a prefix.
_ECHO = re.compile(rb"(</?(?:[\w.-]+:)?echo(?:Doubles|Levels|Trades))(?=[\s/>])")


class EchoHandler(BaseHTTPRequestHandler):
    """Answers GET with the WSDL, and POST with the request as a response."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Send the WSDL, with the address of this server."""
        self.send(200, addressed(WSDL, self.server.server_address[1]))

    def do_POST(self) -> None:
        """Send the request back."""
        request = self.rfile.read(int(self.headers["Content-Length"]))
        self.send(200, echoed(request))

    def send(self, status: int, body: bytes, media_type: str = "text/xml; charset=utf-8") -> None:
        """Send a response."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: it takes longer than the answer."""


def echoed(request: bytes) -> bytes:
    """Return the response that has the values of a request."""
    return _ECHO.sub(rb"\1Response", request)


def addressed(wsdl: Path, port: int) -> bytes:
    """Return the text of a WSDL whose service is on a port of this machine."""
    return wsdl.read_bytes().replace(b"127.0.0.1:8080", b"127.0.0.1:%d" % port)


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler] = EchoHandler, port: int = 0) -> Iterator[str]:
    """Serve for a block, on a free port unless one is given; gives the address."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 8080), EchoHandler) as server:
        print("http://127.0.0.1:8080/?wsdl")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
