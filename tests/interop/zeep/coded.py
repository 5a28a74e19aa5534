"""Calls the services whose WSDLs our server makes from Rust types: /orders in document style, /sums in SOAP encoding.

    coded.py ORDERS-URL SUMS-URL

Prints one JSON object per test; tests/interop/README.md documents it. The schemas are also compiled by libxml2, which refuses
what XML Schema forbids.
"""

import json
import os
import sys
import tempfile
import time
import urllib.request

from lxml import etree
from zeep import Client
from zeep.exceptions import Fault
from zeep.transports import Transport

ORDERS = "{urn:orders}"
XSD = "{http://www.w3.org/2001/XMLSchema}"

TESTS = []


def test(feature, name, *arguments):
    """Registers a test, once for each list of arguments."""

    def register(function):
        TESTS.append((feature, name, lambda services: function(services, *arguments)))
        return function

    return register


class OurTransport(Transport):
    """Loads documents from this machine only: a WSDL must not need others from the network."""

    def load(self, url):
        if not url.startswith("http://127.0.0.1:"):
            raise AssertionError("another document is needed: " + url)
        return super().load(url)


class Services:
    def __init__(self, soap, orders, sums):
        number = soap.replace(".", "")
        self.soap = soap
        self.orders_client, self.sums_client = (Client(url + "?wsdl", transport=OurTransport()) for url in (orders, sums))
        self.orders = self.orders_client.bind("Orders", "OrdersSoap" + number)
        self.sums = self.sums_client.bind("Sums", "SumsSoap" + number)


@test("coded structs", "an order with everything", "most")
@test("coded structs", "an order with only what is required", "least")
def an_order(services, case):
    order = services.orders.sampleOrder(case=case)
    expect((order.status, len(order.line)), ("sent", 2) if case == "most" else ("open", 0))
    problem = services.orders.checkOrder(case=case, order=order)
    expect(problem or "", "")


@test("coded structs", "the schemas are valid")
def the_schemas(services):
    with urllib.request.urlopen(ORDERS_URL + "?wsdl") as answer:
        description = etree.parse(answer)
    schemas = {schema.get("targetNamespace"): schema for schema in description.iter(XSD + "schema")}
    expect(sorted(schemas), ["urn:couriers", "urn:orders"])
    with tempfile.TemporaryDirectory() as folder:
        for namespace, schema in schemas.items():
            for reference in schema.iter(XSD + "import"):
                reference.set("schemaLocation", file_name(reference.get("namespace")))
            etree.ElementTree(schema).write(os.path.join(folder, file_name(namespace)))
        etree.XMLSchema(file=os.path.join(folder, file_name("urn:orders")))


def file_name(namespace):
    return namespace.replace(":", "-") + ".xsd"


@test("coded faults", "no fault")
def enough(services):
    expect(services.orders.reserve(sku="<a>", count=3), 7)


@test("coded faults", "a typed fault")
def too_many(services):
    try:
        services.orders.reserve(sku="<a>", count=11)
    except Fault as fault:
        element = services.orders_client.get_element(ORDERS + "OutOfStock")
        entry = fault.detail.find(ORDERS + "OutOfStock")
        detail = element.parse(entry, services.orders_client.wsdl.types)
        expect((detail.sku, detail.left), ("<a>", 10))
        return
    raise AssertionError("expected a fault, got a response")


@test("coded headers", "a header block both ways")
def a_session(services):
    answer = services.orders.renew(_soapheaders={"Session": {"user": "Ada & co", "hops": 41}})
    session = answer.header.Session
    expect((answer.body.user, session.user, session.hops), ("Ada & co", "Ada & co", 42))


@test("coded headers", "a required block is missing")
def no_session(services):
    try:
        services.orders.renew()
    except Fault:
        return
    raise AssertionError("expected a fault, got a response")


@test("coded one-way", "cancellations arrive")
def cancellations(services):
    topic = "zeep over %s, %d" % (services.soap, os.getpid())
    for _ in range(3):
        services.orders.cancel(topic=topic)
    for _ in range(50):
        count = services.orders.cancelled(topic=topic)
        if count == 3:
            return
        time.sleep(0.1)
    expect(count, 3)


@test("coded arrays", "arrays of numbers and structs", 100)
@test("coded arrays", "an empty array", 0)
def arrays(services, size):
    sampled = services.sums.sample(points=size)
    expect(len(sampled.points or []), size)
    answer = services.sums.sum(numbers=sampled.numbers, points=sampled.points)
    expect(answer.total, 0.5 - 2.25 + 1e10 - sum(n * n for n in range(size)))
    expect(answer.labels or "", "".join("<%d>" % n for n in range(size)))


def expect(actual, expected):
    if actual != expected:
        raise AssertionError("expected %r, got %r" % (expected, actual))


def run(services, feature, name, function):
    line = {"soap": services.soap, "feature": feature, "test": name, "ok": True, "detail": ""}
    try:
        function(services)
    except Exception as error:  # any error fails the test
        line.update(ok=False, detail=("%s: %s" % (type(error).__name__, error))[:600])
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ORDERS_URL = sys.argv[1]
    for version in ("1.1", "1.2"):
        services = Services(version, *sys.argv[1:])
        for each in TESTS:
            run(services, *each)
