"""Calls services through the gateway, with the client that openapi-python-client makes from its document.

    client.py GATEWAY-URL

The gateway has the service of testdata/wsdl/bench.wsdl over SOAP 1.1 at /soap11, and over SOAP 1.2 at /soap12. Prints one JSON
object per test; tests/interop/README.md documents it.
"""

import json
import os
import sys
import time
from http import HTTPStatus

from bench_client import Client
from bench_client.api.bench_soap_11 import (
    echo_decimals,
    echo_doubles,
    echo_ints,
    echo_longs,
    echo_mios,
    echo_strings,
    echo_struct,
    fail,
    notified,
    notify,
)
from bench_client.models import (
    Address,
    Decimals,
    Doubles,
    Fail,
    Ints,
    Longs,
    Mio,
    Mios,
    Person,
    Problem,
    Role,
    Strings,
    Struct,
    Topic,
)
from bench_client.types import UNSET

TESTS = []


def test(feature, name):
    """Registers a test, which is called with a version of SOAP and a client."""

    def register(function):
        TESTS.append((feature, "Python: " + name, function))
        return function

    return register


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


@test("json structs", "a struct with everything")
def everything(_, client):
    address = Address(street="Österweg 5", city="Zürich")
    person = Person(
        id=1, active=True, name="Ada & co <1>", nickname="", score=None, born="2000-02-29", role=Role.ADMIN, address=address, tag=["a", ""]
    )
    expect(echo_struct.sync(client=client, body=Struct(person=person)), Struct(person=person))


@test("json structs", "a struct with only what is required")
def required(_, client):
    person = Person(id=-1, name="", score=0.5, role=Role.GUEST)
    echoed = echo_struct.sync(client=client, body=Struct(person=person)).person
    expect((echoed, echoed.address), (person, UNSET))


@test("json arrays", "1000 structs")
def structs(_, client):
    item = [Mio(x=n, y=1 - n, v=n / 8) for n in range(1000)]
    expect(echo_mios.sync(client=client, body=Mios(item=item)).item, item)


@test("json values", "floats at the edge")
def floats(_, client):
    item = [0.0, 5e-324, 1.7976931348623157e308, -0.1, "INF", "-INF", "NaN"]
    expect(echo_doubles.sync(client=client, body=Doubles(item=item)).item, item)


@test("json values", "longs and decimals keep their digits")
def digits(_, client):
    longs = [2**63 - 1, -(2**63)]
    expect([int(it) for it in echo_longs.sync(client=client, body=Longs(item=longs)).item], longs)
    decimals = ["123456789012345678901234567.125", "0.1"]
    expect([str(it) for it in echo_decimals.sync(client=client, body=Decimals(item=decimals)).item], decimals)


@test("json values", "markup and characters of all planes")
def texts(_, client):
    item = ["<a>&amp;</a>", "\U0001f9fc é Ж", "line\nfeed\ttab", '"quoted"']
    expect(echo_strings.sync(client=client, body=Strings(item=item)).item, item)


@test("json faults", "a typed fault is a problem")
def fault(_, client):
    answer = fail.sync_detailed(client=client, body=Fail(code="x<1>"))
    expect(answer.status_code >= HTTPStatus.BAD_REQUEST, True)
    problem = json.loads(answer.content)
    expect(problem["fault"]["detail"]["BenchFault"]["code"], "x<1>")


@test("json faults", "a request that does not fit is refused, with its place")
def refused(_, client):
    answer = echo_ints.sync_detailed(client=client, body=Ints(item=[1, "two"]))
    problem = answer.parsed
    expect((type(problem), int(answer.status_code), problem.pointer), (Problem, 422, "/item/1"))


@test("json one-way", "notifications arrive")
def notifications(soap, client):
    topic = f"Python over {soap}, {os.getpid()}"
    for _ in range(3):
        expect(int(notify.sync_detailed(client=client, body=Topic(topic=topic)).status_code), 202)
    for _ in range(50):
        count = notified.sync(client=client, body=Topic(topic=topic)).count
        if count == 3:
            return
        time.sleep(0.1)
    raise AssertionError(f"{count} of 3 have arrived")


def main():
    for soap, path in (("1.1", "/soap11"), ("1.2", "/soap12")):
        with Client(base_url=sys.argv[1] + path, timeout=60) as client:
            for feature, name, run in TESTS:
                line = {"soap": soap, "feature": feature, "test": name, "ok": True, "detail": ""}
                try:
                    run(soap, client)
                except Exception as error:
                    line |= {"ok": False, "detail": f"{type(error).__name__}: {error}"[:300]}
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
