"""A server and a client of a shop on loopback, whose exchanges are captured: see README.md.

    python exchanges.py HOST PORT [PROXY]

The client orders for the customers c0, c1 and so on, each in another way that HTTP/1 allows. It is
http.client of Python, or sockets where that has no way. With a proxy (HOST:PORT), the requests that
a proxy may change go through it.
"""

import gzip
import http.client
import http.server
import socket
import sys
import threading
import zlib

import zstandard

ENVELOPE = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{}</e:Body></e:Envelope>"
CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def order(customer):
    item = "<item><code>A-1</code><count>2</count></item>" * 3
    return ENVELOPE.format(f"<Order xmlns='urn:shop'><customer>{customer}</customer>{item}</Order>").encode()


def answer(number):
    return ENVELOPE.format(
        f"<OrderResponse xmlns='urn:shop'><number>{number}</number><total currency='EUR'>1.50</total>"
        "<placed>2026-01-02T03:04:05Z</placed></OrderResponse>"
    ).encode()


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxied = False

    def do_GET(self):
        body = b"<html>a page</html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", len(body))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        if not body:
            self.send_response(204)
            self.end_headers()
            return
        coding = self.headers.get("Content-Encoding")
        if coding == "gzip":
            body = gzip.decompress(body)
        number = int(body.split(b"<customer>c")[1].split(b"<")[0])
        answered = answer(number)
        way = self.headers.get("X-Answer", "")
        self.send_response(500 if way == "fault" else 200)
        self.send_header("Content-Type", "text/xml; charset=utf-8")
        if way == "fault":
            answered = ENVELOPE.format(
                "<e:Fault><faultcode>e:Server</faultcode><faultstring>Sold out</faultstring></e:Fault>"
            ).encode()
        if way in CODINGS:
            answered = CODINGS[way](answered)
            self.send_header("Content-Encoding", way)
        if way == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(answered), 50):
                piece = answered[at : at + 50]
                self.wfile.write(b"%x;name=value\r\n%s\r\n" % (len(piece), piece))
            # mitmproxy knows no trailers.
            self.wfile.write(b"0\r\n\r\n" if self.proxied else b"0\r\nX-Trailer: yes\r\n\r\n")
        elif way == "close":
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answered)
        else:
            self.send_header("Content-Length", len(answered))
            self.end_headers()
            self.wfile.write(answered)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, address):
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, Shop)


def main(host, port, proxy=None):
    Shop.proxied = proxy is not None
    server = Server((host, port))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if proxy:
        connection = http.client.HTTPConnection(*proxy.split(":"))
    else:
        connection = http.client.HTTPConnection(host, port)
    url = f"http://{host}:{port}/shop" if proxy else "/shop"

    def call(number, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        body = order(f"c{number}") if body is None else body
        connection.request("POST", url, body, {"Content-Type": "text/xml", **headers}, encode_chunked=False)
        connection.getresponse().read()

    call(0)
    call(1, gzip.compress(order("c1")), Content_Encoding="gzip")
    for number, way in enumerate(["gzip", "deflate", "zstd", "chunked", "fault"], start=2):
        call(number, X_Answer=way)
    for method in ("GET", "HEAD"):
        connection.request(method, url)
        connection.getresponse().read()
    call(7, b"")
    body = order("c7")
    chunks = [body[:100], body[100:]]
    connection.request("POST", url, iter(chunks), {"Content-Type": "text/xml"}, encode_chunked=True)
    connection.getresponse().read()
    call(8, X_Answer="close")
    if proxy:
        return
    # Two requests at once, and one whose client waits for "100 Continue".
    with socket.create_connection((host, port)) as plain:
        head = "POST /shop HTTP/1.1\r\nHost: shop\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n{}\r\n"
        both = [order("c9"), order("c10")]
        plain.sendall(b"".join(head.format(len(body), "").encode() + body for body in both))
        body = order("c11")
        plain.sendall(head.format(len(body), "Expect: 100-continue\r\nConnection: close\r\n").encode())
        received = b""
        while b"100 Continue" not in received:
            received += plain.recv(65536)
        plain.sendall(body)
        while plain.recv(65536):
            pass


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:4])
