"""Services of a WSDL by their own HTTP, called by zeep and by requests."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import requests
import zeep
from shop import ORDER, PLACED, XML, Shop, envelope, order

import deltasoap

ECHO = Path(__file__).with_name("data") / "echo.wsdl"


def client(url: str, port: str = "Soap11") -> Any:
    return zeep.Client(f"{url}?wsdl", port_name=port)


def fault_of(call: Any) -> zeep.exceptions.Fault:
    with pytest.raises(zeep.exceptions.Fault) as raised:
        call()
    return raised.value


@pytest.mark.parametrize("port", ["Soap11", "Soap12"])
def test_zeep_calls_a_function_with_the_values_by_their_names(port: str) -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        answer = client(url, port).service.Order(urgent=True, **ORDER)
    assert answer.number == 2
    assert (answer.total._value_1, answer.total.currency) == (1.5, "EUR")
    assert answer.placed == PLACED
    (values,) = shop.requests
    assert values["customer"] == "Ada" and values["urgent"] is True and values["pickup"] is None
    (item,) = values["item"]
    assert (item.code, item["count"], item.price) == ("A-1", 2, None)
    assert shop.contexts[0].soap == {"Soap11": "1.1", "Soap12": "1.2"}[port]


def test_an_empty_text_is_a_text() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        assert requests.post(url, order(""), headers=XML).status_code == 200
    assert shop.requests[0]["customer"] == ""


def test_a_derived_type_arrives_as_a_value_of_its_class() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        caller = client(url)
        invoice = caller.get_type("{urn:shop}Invoice")(limit=5, days=30)
        caller.service.Order(payment=invoice, **ORDER)
    payment = shop.requests[0]["payment"]
    assert (type(payment).__name__, payment.days, payment.limit) == ("Invoice", 30, 5)


def test_a_raised_fault_reaches_the_client() -> None:
    with Shop().service.run_in_thread() as url:
        service = client(url).service
        fault = fault_of(lambda: service.Order(customer="nobody", item=ORDER["item"]))
        fault12 = fault_of(
            lambda: client(url, "Soap12").service.Order(**{**ORDER, "customer": "nobody"})
        )
    assert fault.message == "no such customer"
    assert fault.code.endswith(":Client.Unknown")
    assert fault.detail[0].tag == "{urn:shop}SoldOut"
    assert fault.detail[0].findtext("{urn:shop}code") == "A-9"
    assert fault12.code.endswith(":Sender")
    assert fault12.subcodes[0].localname == "Client.Unknown"


def test_a_declared_exception_is_the_detail_of_a_fault() -> None:
    with Shop().service.run_in_thread() as url:
        fault = fault_of(lambda: client(url).service.Order(**{**ORDER, "customer": "late"}))
    assert (fault.message, fault.detail[0].findtext("{urn:shop}code")) == ("SoldOut", "A-7")


def test_other_exceptions_are_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with Shop().service.run_in_thread() as url, caplog.at_level(logging.ERROR, "deltasoap"):
        reply = requests.post(url, order("broken"), headers=XML)
    assert reply.status_code == 500
    assert "the operation Order failed" in reply.text and "1234" not in reply.text
    assert "the password is 1234" in caplog.text and "Shop.Soap11.Order" in caplog.text


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
)
@pytest.mark.parametrize("kind", ["sync", "awaited"])
def test_no_exception_of_a_function_ends_the_server(
    kind: str, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    service = deltasoap.Service(name="Ends", namespace="urn:ends")

    @service.operation
    def sync(ends: bool) -> str:
        if ends:
            raise error
        return "on"

    @service.operation
    async def awaited(ends: bool) -> str:
        return sync(ends)

    with service.run_in_thread() as url, caplog.at_level(logging.ERROR, "deltasoap"):
        call = deltasoap.Client(f"{url}?wsdl", timeout=20).service[kind]
        for _ in range(2):
            with pytest.raises(deltasoap.exceptions.Fault, match=f"operation {kind} failed"):
                call(True)
            assert call(False) == "on"
    assert type(error).__name__ in caplog.text and f"EndsSoap11.{kind}" in caplog.text


def test_a_result_that_does_not_match_is_logged_with_its_path(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Shop().service.run_in_thread() as url, caplog.at_level(logging.ERROR, "deltasoap"):
        reply = requests.post(url, order("wrong"), headers=XML)
    assert "Server" in reply.text and "many" not in reply.text
    assert "(number)" in caplog.text and "'many'" in caplog.text.replace('"', "'")


def test_an_invalid_request_gets_a_client_fault_with_the_path() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        reply = requests.post(url, order(count="two"), headers=XML)
    assert reply.status_code == 500 and ":Client<" in reply.text
    assert "count" in reply.text and "item" in reply.text, reply.text
    assert not shop.requests


def test_an_unknown_type_is_a_client_fault_with_the_path() -> None:
    name = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="s:Nope"'
    item = "<s:item><s:code>A-1</s:code><s:count>2</s:count></s:item>"
    payment = f"<s:payment {name}><s:limit>5</s:limit></s:payment>"
    request = envelope(f"<s:Order><s:customer>Ada</s:customer>{item}{payment}</s:Order>")
    shop = Shop()
    with shop.service.run_in_thread() as url:
        reply = requests.post(url, request, headers=XML)
    assert reply.status_code == 500 and ":Client<" in reply.text
    assert "s:Nope" in reply.text and "(payment)" in reply.text, reply.text
    assert not shop.requests


@pytest.mark.parametrize("tolerance", ["strict", "unknown"])
def test_an_unknown_type_in_place_of_one_with_derived_types(tolerance: str) -> None:
    name = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="s:Nope"'
    article = "<s:article><s:name>A</s:name><s:price>1</s:price></s:article>"
    both = article + article.replace("<s:article", f"<s:article {name}")
    service = deltasoap.Service(ECHO.with_name("shop.wsdl"), tolerance=tolerance)
    seen: list[Any] = []

    @service.operation
    def put(article: Any) -> Any:
        seen.extend(article)
        return article

    with service.run_in_thread() as url:
        reply = requests.post(url, envelope(f"<s:put>{both}</s:put>"), headers=XML)
    if tolerance == "strict":
        assert ":Client<" in reply.text and "(article[1])" in reply.text and not seen
    else:
        assert [each.name for each in seen] == ["A", "A"]


def test_facets_count_if_requests_are_validated() -> None:
    shop, lenient = Shop(validate=True), Shop()
    with shop.service.run_in_thread() as url:
        assert ":Client<" in requests.post(url, order(count="5000"), headers=XML).text
    with lenient.service.run_in_thread() as url:
        assert requests.post(url, order(count="5000"), headers=XML).status_code == 200
    assert not shop.requests and lenient.requests[0]["item"][0]["count"] == 5000


def test_malformed_unknown_and_unanswered_requests_get_faults() -> None:
    with Shop().service.run_in_thread() as url:
        malformed = requests.post(url, b"<e:Envelope", headers=XML)
        unknown = requests.post(url, envelope("<s:Nothing/>"), headers=XML)
        unanswered = requests.post(url, envelope("<s:Catalogue/>"), headers=XML)
        not_xml = requests.post(url, b"{}", headers={"Content-Type": "application/json"})
    assert ":Client<" in malformed.text
    assert ":Client<" in unknown.text and "Nothing" in unknown.text
    assert "does not answer the operation Catalogue" in unanswered.text
    assert not_xml.status_code == 415


def test_a_message_over_the_limit_is_refused() -> None:
    shop = Shop(max_message=2000)
    with shop.service.run_in_thread() as url:
        reply = requests.post(url, order("A" * 3000), headers=XML)
        assert requests.post(url, order("A" * 300), headers=XML).status_code == 200
    assert reply.status_code == 413 and len(shop.requests) == 1


def test_a_header_block_is_read_by_its_type() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        client(url).service.Order(**ORDER, _soapheaders={"session": {"token": "t-1"}})
        block = '<s:Session e:mustUnderstand="1"><s:token>t-2</s:token></s:Session>'
        with_block = order().replace(b"<e:Header>", b"<e:Header>" + block.encode())
        assert requests.post(url, with_block, headers=XML).status_code == 200
        other = '<s:Other e:mustUnderstand="1"/>'
        assert "MustUnderstand" in requests.post(url, envelope("", other), headers=XML).text
    assert [each.header("Session").token for each in shop.contexts] == ["t-1", "t-2"]
    assert shop.contexts[0].header("{urn:shop}Session").token == "t-1"
    assert shop.contexts[0].header("Other") is None


def test_the_context_knows_the_request() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        requests.post(f"{url}a?b=c", order(), headers={**XML, "X-Trace": "7", "SOAPAction": '""'})
    (context,) = shop.contexts
    assert context.peer is not None and context.peer[0] == "127.0.0.1"
    assert (context.http_headers["x-trace"], context.target) == ("7", "/a?b=c")
    assert (context.operation, context.principal, context.attachments) == ("Order", None, [])


def test_one_way_operations_are_accepted_before_they_end() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url:
        assert client(url).service.Ping("hello") is None
        assert shop.pinged.wait(10)
    assert shop.pings == ["hello"]


def test_the_wsdl_has_the_address_of_the_request() -> None:
    with Shop().service.run_in_thread() as url:
        text = requests.get(f"{url}shop?wsdl").text
    assert f'<soap:address location="{url}shop"/>' in text
    assert "http://localhost:8080" not in text
    elsewhere = Shop(address="https://shop.example/")
    assert 'location="https://shop.example/"' in elsewhere.service.wsdl


def test_requests_and_responses_of_a_connection_are_compared_with_earlier_ones() -> None:
    shop = Shop()
    with shop.service.run_in_thread() as url, requests.Session() as session:
        for count in range(100, 110):
            reply = session.post(url, order(count=str(count)), headers=XML)
            assert f">{count}<" in reply.text
    stats = shop.service.stats
    assert (stats["messages"], stats["faults"], stats["requests"]) == (10, 0, 10)
    assert stats["request_bytes_skipped"] > stats["request_bytes_read"], stats
    off = Shop(differential=False)
    with off.service.run_in_thread() as url, requests.Session() as session:
        for _ in range(10):
            session.post(url, order(), headers=XML)
    assert off.service.stats["request_bytes_skipped"] == 0


def test_responses_are_written_over_earlier_ones() -> None:
    service = deltasoap.Service(name="Numbers", namespace="urn:n")

    @service.operation
    def count(first: int) -> list[int]:
        return [first, *range(1000, 3000)]

    with service.run_in_thread() as url, requests.Session() as session:
        for first in range(10):
            body = envelope(f'<n:count xmlns:n="urn:n"><n:first>{first}</n:first></n:count>')
            assert f">{first}<" in session.post(url, body, headers=XML).text
    stats = service.stats
    assert stats["responses"] == 10
    assert stats["response_bytes_written"] < stats["response_bytes"] / 5, stats


@pytest.mark.parametrize("workers", [0, 2])
def test_twenty_threads_call_at_once(workers: int) -> None:
    shop = Shop()

    def call(index: int) -> None:
        with requests.Session() as session:
            for turn in range(10):
                count = 1 + (index * 10 + turn) % 999
                reply = session.post(url, order(f"c{index}", str(count)), headers=XML)
                assert f"number>{count}<" in reply.text

    with shop.service.run_in_thread(workers=workers) as url, ThreadPoolExecutor(20) as pool:
        list(pool.map(call, range(20)))
    assert shop.service.stats["messages"] == 200


def test_functions_run_at_the_same_time_up_to_the_limit() -> None:
    service = deltasoap.Service(name="Slow", namespace="urn:slow", threads=4)
    running, most = 0, 0
    lock = threading.Lock()

    @service.operation
    def wait() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.1)
        with lock:
            running -= 1

    body = envelope('<w:wait xmlns:w="urn:slow"/>')
    with service.run_in_thread() as url, ThreadPoolExecutor(12) as pool:
        replies = pool.map(lambda _: requests.post(url, body, headers=XML).status_code, range(12))
        assert set(replies) == {200}
    assert most == 4


def test_basic_authentication_names_the_principal() -> None:
    shop = Shop(authenticate=lambda user, password: (user, password) == ("ada", "secret"))
    with shop.service.run_in_thread() as url:
        denied = requests.post(url, order(), headers=XML, auth=("ada", "wrong"))
        assert requests.post(url, order(), headers=XML, auth=("ada", "secret")).status_code == 200
    assert denied.status_code == 401 and "Basic" in denied.headers["WWW-Authenticate"]
    assert [each.principal for each in shop.contexts] == ["ada"]


def test_an_authentication_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def check(user: str, password: str) -> bool:
        raise RuntimeError("no database")

    with Shop(authenticate=check).service.run_in_thread() as url:
        denied = requests.post(url, order(), headers=XML, auth=("ada", "secret"))
    assert denied.status_code == 401
    assert "no database" in caplog.text and "'ada'" in caplog.text
    assert "secret" not in caplog.text


def test_a_certificate_makes_the_server_serve_tls() -> None:
    files = Path(__file__).parents[2] / "testdata/tls"
    certificate, key = files / "openssl.pem", files / "openssl.key"
    shop, port = Shop(), free_port()
    with pytest.raises(TypeError, match="TLS needs a certificate and its key"):
        shop.service.serve(port=port, certificate=certificate)
    listener = shop.service._listen("127.0.0.1", port, 0, 0.2, certificate, key)
    thread = threading.Thread(target=listener.serve, daemon=True)
    thread.start()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urlopen(f"https://127.0.0.1:{port}/?wsdl", context=context) as reply:
        assert f'location="https://127.0.0.1:{port}/"' in reply.read().decode()
    listener.stop()
    thread.join()


def test_functions_are_checked_against_the_wsdl() -> None:
    service = deltasoap.Service(Shop().service.wsdl.encode())
    with pytest.raises(LookupError, match="no operation 'Nothing'; it has Catalogue, Order, Ping"):
        service.operation("Nothing")(lambda: None)
    with pytest.raises(
        TypeError, match=r"has no parameter 'text', which the operation Ping passes"
    ):
        service.operation("Ping")(lambda: None)
    with pytest.raises(
        TypeError, match=r"has a parameter 'other', which the operation Ping does not"
    ):
        service.operation("Ping")(lambda text, other: None)
    with pytest.raises(LookupError, match="Ping declares no fault KeyError; it declares none"):
        service.operation("Ping", faults=[KeyError])(lambda text: None)
    service.operation("Ping")(lambda text, other=1: None)
    with pytest.raises(ValueError, match="Ping has a function already"):
        service.operation("Ping")(lambda text: None)
    assert service.wsdl
    with pytest.raises(RuntimeError, match="the service has started"):
        service.operation("Order")(lambda **values: None)


def test_a_service_serves_what_its_wsdl_imports(tmp_path: Path) -> None:
    (tmp_path / "types").mkdir()
    (tmp_path / "types/a.xsd").write_text(
        '<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:a">'
        '<element name="Say" type="string"/></schema>'
    )
    (tmp_path / "a.wsdl").write_text(
        '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:x="urn:a" '
        'targetNamespace="urn:a">'
        '<types><schema xmlns="http://www.w3.org/2001/XMLSchema"><import namespace="urn:a" '
        'schemaLocation="types/a.xsd"/></schema></types>'
        '<message name="m"><part name="p" element="x:Say"/></message>'
        '<portType name="t"><operation name="Say"><input message="x:m"/><output message="x:m"/>'
        '</operation></portType><binding name="b" type="x:t">'
        '<soap:binding xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" '
        'transport="http://schemas.xmlsoap.org/soap/http"/><operation name="Say">'
        '<input><s:body xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" use="literal"/></input>'
        '<output><s:body xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" use="literal"/></output>'
        '</operation></binding><service name="S"><port name="P" binding="x:b">'
        '<s:address xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/" location="http://h/"/></port>'
        "</service></definitions>"
    )
    first = deltasoap.Service(tmp_path / "a.wsdl")
    first.operation("Say")(lambda text: f"{text}!")
    with first.run_in_thread() as url:
        assert zeep.Client(f"{url}?wsdl").service.Say("a") == "a!"
        second = deltasoap.Service(f"{url}?wsdl")
    second.operation("Say")(lambda text: f"{text}?")
    with second.run_in_thread() as url:
        assert zeep.Client(f"{url}?wsdl").service.Say("a") == "a?"


RPC = b"""<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:r"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema"
    xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" targetNamespace="urn:r">
  <message name="in"><part name="a" type="xsd:int"/><part name="class" type="xsd:string"/></message>
  <message name="out"><part name="sum" type="xsd:int"/>
    <part name="text" type="xsd:string"/></message>
  <portType name="p"><operation name="Add"><input message="t:in"/><output message="t:out"/>
  </operation></portType>
  <binding name="b" type="t:p">
    <soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Add"><soap:operation soapAction="add"/>
      <input><soap:body use="literal" namespace="urn:r"/></input>
      <output><soap:body use="literal" namespace="urn:r"/></output></operation>
  </binding>
  <service name="S"><port name="P" binding="t:b"><soap:address location="http://h/"/></port></service>
</definitions>"""


def test_the_parts_of_rpc_are_arguments() -> None:
    service = deltasoap.Service(RPC)

    @service.operation
    def Add(a: int, class_: str) -> dict[str, Any]:
        return {"sum": a + 1, "text": f"{class_}!"}

    with service.run_in_thread() as url:
        answer = client(url, "P").service.Add(**{"a": 1, "class": "c"})
    assert (answer.sum, answer.text) == (2, "c!")


def test_lists_are_columns_if_the_service_says_so() -> None:
    import numpy as np

    service = deltasoap.Service(ECHO, columns=True)
    seen: list[Any] = []

    @service.operation
    def echoDoubles(item: Any) -> Any:
        seen.append(item)
        return item * 2

    @service.operation
    def echoAll(trade: Any, **others: Any) -> Any:
        seen.append([each.symbol for each in trade])
        return {"trade": trade}

    trades = [
        {"id": each, "price": each / 2, "symbol": f"S{each}", "at": PLACED} for each in range(5)
    ]
    with service.run_in_thread() as url:
        caller = client(url, "Echo").service
        assert caller.echoDoubles([1.5, 2.5]) == [3.0, 5.0]
        answer = caller.echoAll(trade=trades)
    assert isinstance(seen[0], np.ndarray) and seen[0].tolist() == [1.5, 2.5]
    assert seen[1] == ["S0", "S1", "S2", "S3", "S4"]
    assert [(each.id, each.price) for each in answer.trade] == [(n, n / 2) for n in range(5)]


SCRIPT = """
import sys, time, deltasoap
service = deltasoap.Service(name="Slow", namespace="urn:slow")
@service.operation
def wait() -> str:
    print("waiting", flush=True)
    time.sleep(1)
    return "done"
@service.operation
async def ready() -> None:
    print("ready", flush=True)
service.serve(port=int(sys.argv[1]))
print("ended", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_after_the_requests_that_have_begun(number: int) -> None:
    port = free_port()
    program = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(port)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    )
    try:
        url = f"http://127.0.0.1:{port}/"
        post(url, "ready")
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(post, url, "wait")
            assert program.stdout is not None
            assert [program.stdout.readline(), program.stdout.readline()] == [
                "ready\n",
                "waiting\n",
            ]
            program.send_signal(number)
            assert ">done<" in answer.result(30)
        assert program.wait(30) == 0
        assert program.stdout.read() == "ended\n"
    finally:
        program.kill()
        program.wait()


def free_port() -> int:
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
    return port


def post(url: str, name: str) -> str:
    for _ in range(200):
        try:
            return requests.post(url, envelope(f'<w:{name} xmlns:w="urn:slow"/>'), headers=XML).text
        except requests.ConnectionError:
            time.sleep(0.05)
    raise AssertionError("the server does not listen")


BARE = """
import sys, urllib.request


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"lxml", "numpy", "requests", "httpx", "isodate"}:
            raise ImportError(name)


sys.meta_path.insert(0, Missing())
from shop import Shop, XML, order

shop = Shop()
with shop.service.run_in_thread() as url:
    for customer in ("Ada", "late"):
        request = urllib.request.Request(url, order(customer), XML)
        try:
            print(b"OrderResponse" in urllib.request.urlopen(request).read())
        except urllib.error.HTTPError as error:
            print(b"A-7" in error.read())
print(shop.requests[0]["item"][0].code)
"""


def test_a_service_needs_no_other_package() -> None:
    folder = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-c", BARE],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder)},
        check=False,
        cwd=folder,
    )
    assert run.stdout.split() == ["True", "True", "A-1"], run.stderr
