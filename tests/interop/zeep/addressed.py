"""Calls the service of our server that requires WS-Addressing with zeep, which knows that from the actions in the WSDL.

    addressed.py URL

Prints one JSON object per test; tests/interop/README.md documents it.
"""

import json
import sys

from zeep import Client, Plugin
from zeep.exceptions import Fault
from zeep.plugins import HistoryPlugin

WSA = "{http://www.w3.org/2005/08/addressing}"

TESTS = []


def test(feature, name):
    """Registers a test: called with the URL and the version of SOAP, it raises if something is wrong."""

    def register(function):
        TESTS.append((feature, name, function))
        return function

    return register


class Unaddressed(Plugin):
    """Removes the header blocks that zeep adds by itself, since the WSDL has an action."""

    def egress(self, envelope, http_headers, operation, binding_options):
        envelope.remove(envelope.find("{*}Header"))
        return envelope, http_headers


def service(url, soap, plugin):
    client = Client(url + "?wsdl", plugins=[plugin])
    return client.bind("Addressed", "Soap" + soap.replace(".", ""))


def block(envelope, name):
    """Returns the text of a header block of WS-Addressing."""
    return envelope.findtext("{*}Header/" + WSA + name)


@test("addressing calls", "responses name their request")
def call(url, soap):
    history = HistoryPlugin()
    expect(service(url, soap, history).add(a=2, b=3), 5)
    sent, received = (message["envelope"] for message in (history.last_sent, history.last_received))
    expect(block(sent, "Action"), "urn:addressed:sum")
    expect(block(received, "RelatesTo"), block(sent, "MessageID"))
    expect(block(received, "Action"), "urn:addressed:Sums:addResponse")


@test("addressing faults", "declared faults have their action")
def fail(url, soap):
    history = HistoryPlugin()
    try:
        service(url, soap, history).add(a=2, b=-3)
    except Fault as fault:
        expect(fault.message, "a number is negative")
        sent, received = (message["envelope"] for message in (history.last_sent, history.last_received))
        expect(block(received, "Action"), "urn:addressed:Sums:add:Fault:negative")
        expect(block(received, "RelatesTo"), block(sent, "MessageID"))
        return
    raise AssertionError("no fault")


@test("addressing faults", "requests without header blocks are refused")
def refuse(url, soap):
    try:
        service(url, soap, Unaddressed()).add(a=2, b=3)
    except Fault as fault:
        code = fault.code if soap == "1.1" else str(fault.subcodes[0])
        expect(code.replace("}", ":").rsplit(":", 1)[1], "MessageAddressingHeaderRequired")
        return
    raise AssertionError("no fault")


def expect(actual, expected):
    if actual != expected:
        raise AssertionError("expected %r, got %r" % (expected, actual))


def main(url):
    for soap in ("1.1", "1.2"):
        for feature, name, function in TESTS:
            line = {"soap": soap, "feature": feature, "test": name, "ok": True, "detail": ""}
            try:
                function(url, soap)
            except Exception as error:  # any error fails the test
                line.update(ok=False, detail="%s: %s" % (type(error).__name__, str(error)[:300]))
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
