"""The services /orders and /sums of deltasoap for Python, under uvicorn.

    server.py ORDERS-WSDL SUMS-WSDL

The WSDLs are the URLs of those that our server makes from Rust types; the functions here do what client/src/coded.rs does. Prints
`listening on URL` as soon as it accepts connections.
"""

import socket
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import uvicorn

import deltasoap
from deltasoap.helpers import serialize_object

ADDRESS = {"street": "Storgata 1 & 2", "city": "Tromsø"}
LEAST = {
    "id": 1,
    "customer": "x",
    "address": ADDRESS,
    "status": "open",
    "placed": datetime(2024, 2, 29, 12, tzinfo=timezone.utc),
    "photo": b"\0",
}
MOST = {
    "id": 1 << 62,
    "rush": True,
    "customer": "Ada <&> 漢字",
    "address": ADDRESS,
    "billing": {**ADDRESS, "zip": "9008"},
    "discount": Decimal("-0.125"),
    "line": [
        {"sku": "a", "count": 1, "price": Decimal("12.5"), "tag": ["new", "blue"], "is_gift": True},
        {"sku": "b", "count": 2**32 - 1, "price": Decimal("1234567890.0625"), "is_gift": False},
    ],
    "status": "sent",
    "placed": datetime(2026, 1, 2, 3, 4, 5, 250000, timezone(timedelta(hours=2))),
    "photo": bytes(range(256)),
    "courier": {"name": "Ole"},
}
ORDERS = {"least": LEAST, "most": MOST}


@dataclass
class OutOfStock(Exception):
    """Not so many items are left."""

    sku: str
    left: int


def orders(wsdl):
    """Make the service in document style."""
    service = deltasoap.Service(wsdl)
    cancellations = Counter()

    @service.operation
    def sampleOrder(case):
        return ORDERS[case]

    @service.operation
    async def checkOrder(case, order):
        found = present(serialize_object(order, dict))
        return "" if found == ORDERS[case] else f"expected {ORDERS[case]}, got {found}"

    @service.operation(faults=[OutOfStock])
    def reserve(sku, count):
        if count > 10:
            raise OutOfStock(sku, 10)
        return 10 - count

    @service.operation
    async def cancel(topic):
        cancellations[topic] += 1

    @service.operation
    def cancelled(topic):
        return cancellations[topic]

    @service.operation
    def renew(context):
        session = context.header("Session")
        if session is None:
            raise deltasoap.Fault("the header block Session is missing", code="Client")
        context.add_header({"user": session.user, "hops": session.hops + 1}, "Session")
        return session.user

    return service


def present(value):
    """A value without what is absent."""
    if isinstance(value, dict):
        return {name: present(each) for name, each in value.items() if each is not None and each != []}
    return [present(each) for each in value] if isinstance(value, list) else value


def sums(wsdl):
    """Make the service in SOAP encoding."""
    service = deltasoap.Service(wsdl)

    @service.operation
    def sample(points):
        made = [{"label": f"<{n}>", "x": n, "y": -n} for n in range(points)]
        return {"numbers": [0.5, -2.25, 1e10], "points": made}

    @service.operation("sum")
    def total(numbers, points):
        products = sum(point.x * point.y for point in points)
        return {"total": sum(numbers) + products, "labels": "".join(point.label for point in points)}

    return service


def main():
    """Serve until the process is killed."""
    applications = {"/orders": orders(sys.argv[1]).asgi(), "/sums": sums(sys.argv[2]).asgi()}

    async def application(scope, receive, send):
        await applications[scope["path"]](scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    configuration = uvicorn.Config(application, lifespan="off", log_level="warning")
    uvicorn.Server(configuration).run(sockets=[listener])


if __name__ == "__main__":
    main()
