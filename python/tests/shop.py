"""A service of the shop's WSDL, for the tests of services."""

from __future__ import annotations

import datetime
import threading
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltasoap

WSDL = Path(__file__).parents[2] / "crates/deltasoap-dynamic/tests/data/shop.wsdl"
PLACED = datetime.datetime(2026, 11, 22, 10, 0, tzinfo=datetime.timezone.utc)

ORDER = {"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}


@dataclass
class SoldOut(Exception):
    """Nothing of an article is left."""

    code: str


class Shop:
    """A service, and what its functions have seen."""

    def __init__(self, **options: Any) -> None:
        self.service = deltasoap.Service(WSDL, **options)
        self.requests: list[dict[str, Any]] = []
        self.contexts: list[deltasoap.Context] = []
        self.threads: set[str] = set()
        self.pings: list[str] = []
        self.pinged = threading.Event()
        self.service.operation("Order", faults=[SoldOut])(self.order)
        self.service.operation("Ping")(self.ping)

    def order(self, context: deltasoap.Context, **values: Any) -> Any:
        """Answer with the number of items."""
        self.requests.append(values)
        self.contexts.append(context)
        self.threads.add(threading.current_thread().name)
        customer = values["customer"]
        if customer == "nobody":
            raise deltasoap.Fault(
                "no such customer", code="Client.Unknown", detail={"SoldOut": {"code": "A-9"}}
            )
        if customer == "late":
            raise SoldOut("A-7")
        if customer == "broken":
            raise RuntimeError("the password is 1234")
        if customer == "wrong":
            return {"number": "many", "total": {"_value_1": 1, "currency": "EUR"}, "placed": PLACED}
        total = {"_value_1": Decimal("1.50"), "currency": "EUR"}
        number = sum(each["count"] for each in values["item"])
        return {"number": number, "total": total, "placed": PLACED}

    async def ping(self, text: str) -> None:
        """Note the text."""
        self.pings.append(text)
        self.pinged.set()


def envelope(body: str, header: str = "") -> bytes:
    """A request of SOAP 1.1, with the prefix `s` for the shop."""
    return (
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:s="urn:shop">'
        f"<e:Header>{header}</e:Header><e:Body>{body}</e:Body></e:Envelope>"
    ).encode()


def order(customer: str = "Ada", count: str = "2") -> bytes:
    """A request of the operation Order."""
    item = f"<s:item><s:code>A-1</s:code><s:count>{count}</s:count></s:item>"
    return envelope(f"<s:Order><s:customer>{customer}</s:customer>{item}</s:Order>")


XML = {"Content-Type": "text/xml; charset=utf-8"}
