"""Mocks of a WSDL, recorded answers, and the fixtures of pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import echo
import network
import pytest

import deltasoap
from deltasoap import exceptions, plugins, wsse, zeep
from deltasoap._engine import Contract, body
from deltasoap.http import HttpResponse, HttpTransport
from deltasoap.loader import parse_xml
from deltasoap.testing import Cassette, CassetteError, Mock
from deltasoap.transports import Transport

ECHO = Path(__file__).with_name("data") / "echo.wsdl"
WSDLS = sorted(network.WSDL.parent.glob("*.wsdl"))


@pytest.fixture
def mock() -> Iterator[Mock]:
    with Mock(network.WSDL) as started:
        yield started


def test_operations_answer_with_samples(mock: Mock) -> None:
    placed = mock.client().service.Order(**network.ORDER)
    assert isinstance(placed.number, int)
    assert placed.total.currency in ("EUR", "CHF")


def test_what_a_reply_does_not_say_comes_from_the_sample(mock: Mock) -> None:
    sample = mock.client().service.Order(**network.ORDER)
    mock.reply("Order", number=5, total={"currency": "CHF"})
    placed = mock.client().service.Order(**network.ORDER)
    assert (placed.number, placed.total.currency) == (5, "CHF")
    assert (placed.total._value_1, placed.placed) == (sample.total._value_1, sample.placed)


def test_replies_are_given_in_turn(mock: Mock) -> None:
    mock.reply("Order", number=11)
    mock.reply("Order", number=12)
    order = mock.client().service.Order
    assert [order(**network.ORDER).number for _ in range(3)] == [11, 12, 11]
    mock.reset()
    assert not mock.requests
    assert order(**network.ORDER).number not in (11, 12)


def test_a_function_makes_the_reply_of_the_request(mock: Mock) -> None:
    mock.reply("Order", lambda order: {"number": order.item[0].count + 40})
    assert mock.client().service.Order(**network.ORDER).number == 42

    def refuse(order: Any) -> Any:
        raise exceptions.Fault(f"no {order.item[0].code}", code="Client")

    mock.reset()
    mock.reply("Order", refuse)
    with pytest.raises(exceptions.Fault, match="no A-1"):
        mock.client().service.Order(**network.ORDER)


def test_a_function_that_fails_is_a_fault(mock: Mock) -> None:
    mock.reply("Order", lambda _: 1 / 0)
    with pytest.raises(exceptions.Fault, match="ZeroDivisionError: division by zero"):
        mock.client().service.Order(**network.ORDER)


@pytest.mark.parametrize("port", ["Soap11", "Soap12"])
def test_faults_have_a_code_and_a_detail(mock: Mock, port: str) -> None:
    mock.fault("Order", "sold <out>", code="Client", detail={"SoldOut": {"code": "A-1"}})
    with pytest.raises(exceptions.Fault) as raised:
        mock.client(port_name=port).service.Order(**network.ORDER)
    assert raised.value.message == "sold <out>"
    assert str(raised.value.code).endswith({"Soap11": "Client", "Soap12": "Sender"}[port])
    assert raised.value.detail.findtext(".//{urn:shop}code") == "A-1"


def test_requests_are_kept(mock: Mock) -> None:
    client = mock.client(settings=deltasoap.Settings(extra_http_headers={"X-Shop": "1"}))
    client.service.Order(**network.ORDER)
    client.service.Catalogue()
    assert [each.operation for each in mock.requests] == ["Order", "Catalogue"]
    order = mock.requests[0]
    assert (order.values.customer, order.values.item[0].count) == ("Ada", 2)
    assert order.headers["x-shop"] == "1"
    assert b"Envelope" in order.envelope


def test_operations_without_a_response_are_kept_too(mock: Mock) -> None:
    assert mock.client().service.Ping("hello") is None
    assert mock.requests[0].values.text == "hello"


def test_wrong_answers_are_errors_of_the_test(mock: Mock) -> None:
    with pytest.raises(exceptions.LookupError, match="no operation 'Odrer'. Did you mean 'Order'"):
        mock.reply("Odrer", number=5)
    with pytest.raises(exceptions.ValidationError, match="number"):
        mock.reply("Order", number="five")
    with pytest.raises(TypeError, match="Did you mean 'number'"):
        mock.reply("Order", nunber=5)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<Order xmlns="urn:shop"><customer/></Order>', "item"),
        ('<Oder xmlns="urn:shop"/>', "no operation of SOAP 1.1 has the element {urn:shop}Oder"),
    ],
)
def test_wrong_requests_get_a_fault_that_says_why(mock: Mock, content: str, text: str) -> None:
    headers = {"Content-Type": "text/xml"}
    message = network.ENVELOPE.format(content).encode()
    response = HttpTransport().post(mock.url, message, headers)
    assert response.status_code == 500
    assert text in response.text
    assert not mock.requests


def test_the_wsdl_is_served_with_what_it_imports(tmp_path: Path) -> None:
    text = network.WSDL.read_text()
    start, end = text.index("<xs:schema"), text.index("</xs:schema>") + len("</xs:schema>")
    (tmp_path / "types").mkdir()
    schema = text[start:end].replace("<xs:schema ", f"<xs:schema {_NAMES} ", 1)
    (tmp_path / "types" / "shop.xsd").write_text(schema)
    include = '<xs:include schemaLocation="types/shop.xsd"/>'
    around = f'<xs:schema targetNamespace="urn:shop">{include}</xs:schema>'
    (tmp_path / "shop.wsdl").write_text(text[:start] + around + text[end:])
    (tmp_path.parent / "secret").write_text("secret")
    with Mock(tmp_path / "shop.wsdl") as mock:
        mock.reply("Order", number=5)
        assert deltasoap.Client(mock.wsdl).service.Order(**network.ORDER).number == 5
        with pytest.raises(exceptions.TransportError, match="404"):
            HttpTransport().load(f"{mock.url}../secret")


_NAMES = 'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:tns="urn:shop"'


def test_zeep_face_calls_a_mock(mock: Mock) -> None:
    mock.reply("Order", number=5)
    assert zeep.Client(mock.wsdl).service.Order(**network.ORDER).number == 5


def test_long_messages_are_answered() -> None:
    numbers = [float(number) for number in range(100_000)]
    with Mock(ECHO) as mock:
        mock.reply("echoDoubles", lambda values: {"item": values.item})
        assert list(mock.client().service.echoDoubles(numbers)) == numbers


@pytest.mark.parametrize("wsdl", WSDLS, ids=lambda path: path.stem)
def test_samples_of_all_operations_are_responses(wsdl: Path) -> None:
    contract = Contract.load(str(wsdl))
    checked = 0
    for binding in contract.definitions["bindings"]:
        for name in (each["name"] for each in binding["operations"]):
            try:
                operation = contract.operation(binding["name"], name)
            except exceptions.LookupError:
                continue
            if operation.response is None or not operation.response[0].rpartition("}")[2]:
                continue
            sample = operation.sample
            values = sample if isinstance(sample, dict) else {}
            positional = () if isinstance(sample, dict) else (sample,)
            envelope = operation.response_envelope(positional, values)
            soap, element, document, _ = body(envelope)
            assert (soap, element) == (operation.soap, operation.response[0])
            assert document is not None
            assert repr(operation.decode_response(document)) == repr(sample)
            checked += 1
    assert checked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cassettes" / "orders.json"


def order(client: Any, customer: str = "Ada") -> int:
    return int(client.service.Order(**{**network.ORDER, "customer": customer}).number)


def test_answers_are_recorded_and_replayed(mock: Mock, path: Path) -> None:
    mock.reply("Order", number=5)
    mock.reply("Order", number=6)
    client = Cassette(path).attach(deltasoap.Client(mock.wsdl))
    assert [order(client), order(client, "Bea"), order(client)] == [5, 6, 5]
    before = len(mock.requests)
    client = Cassette(path).attach(deltasoap.Client(mock.wsdl))
    assert [order(client, "Bea"), order(client), order(client)] == [6, 5, 5]
    assert len(mock.requests) == before == 3


def test_numbers_stay_arrays(path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    with echo.service() as url:
        client = Cassette(path).attach(deltasoap.Client(url))
        recorded = client.service.echoDoubles([1, 2.5])
        replayed = Cassette(path).attach(deltasoap.Client(url)).service.echoDoubles([1, 2.5])
    assert type(recorded) is type(replayed) is numpy.ndarray
    assert recorded.tolist() == replayed.tolist() == [1, 2.5]


def test_documents_are_replayed_too(mock: Mock, path: Path) -> None:
    mock.reply("Order", number=5)
    assert order(deltasoap.Client(mock.wsdl, transport=Cassette(path).wrap())) == 5
    mock.close()
    assert order(deltasoap.Client(mock.wsdl, transport=Cassette(path).wrap())) == 5


def test_prefixes_whitespace_and_headers_do_not_matter(path: Path) -> None:
    with Mock(ECHO) as mock:
        mock.reply("echoDoubles", item=[7.5])

        def echoed(client: Any) -> list[float]:
            return list(Cassette(path).attach(client).service.echoDoubles([1, 2.5]))

        assert echoed(deltasoap.Client(mock.wsdl)) == [7.5]
        assert echoed(zeep.Client(mock.wsdl)) == [7.5]
        history = plugins.HistoryPlugin()
        token = wsse.UsernameToken("ada", "secret")
        assert echoed(zeep.Client(mock.wsdl, plugins=[history], wsse=token)) == [7.5]
        assert history.last_sent["envelope"].find(".//{*}UsernameToken") is not None
        assert len(mock.requests) == 1
    indented = (
        '<a:Envelope xmlns:a="http://schemas.xmlsoap.org/soap/envelope/">\n <a:Body>\n'
        '  <b:echoDoubles xmlns:b="urn:echo"><b:item> 1 </b:item>\n'
        "   <b:item>2.5</b:item></b:echoDoubles>\n </a:Body></a:Envelope>"
    )
    response = Cassette(path).wrap().post("http://nowhere.invalid/", indented, {})
    assert response.status_code == 200


def test_faults_are_replayed(mock: Mock, path: Path) -> None:
    mock.fault("Order", "sold out", detail={"SoldOut": {"code": "A-1"}})
    for _ in range(2):
        client = Cassette(path).attach(deltasoap.Client(mock.wsdl))
        with pytest.raises(exceptions.Fault, match="sold out") as raised:
            order(client)
        assert raised.value.detail.findtext(".//{urn:shop}code") == "A-1"
    assert len(mock.requests) == 1


def test_once_rejects_what_is_not_recorded(mock: Mock, path: Path) -> None:
    order(Cassette(path).attach(deltasoap.Client(mock.wsdl)))
    client = Cassette(path).attach(deltasoap.Client(mock.wsdl))
    with pytest.raises(CassetteError, match=r"\+<n1:customer>Eve</n1:customer>"):
        order(client, "Eve")
    with pytest.raises(CassetteError, match="no recorded answer to Catalogue: .* has Order; "):
        client.service.Catalogue()
    order(client)
    with pytest.raises(CassetteError, match="replayed as often as it was recorded"):
        order(client)
    assert len(mock.requests) == 1


def test_none_never_records(mock: Mock, path: Path) -> None:
    client = Cassette(path, "none").attach(deltasoap.Client(mock.wsdl))
    with pytest.raises(CassetteError, match="there is no file"):
        order(client)
    assert not mock.requests
    assert not path.exists()


def test_new_records_the_rest(mock: Mock, path: Path) -> None:
    order(Cassette(path).attach(deltasoap.Client(mock.wsdl)))
    client = Cassette(path, "new").attach(deltasoap.Client(mock.wsdl))
    order(client)
    order(client, "Eve")
    assert [each.values.customer for each in mock.requests] == ["Ada", "Eve"]
    assert Cassette(path).requests == ["Order", "Order"]


def test_all_records_anew(mock: Mock, path: Path) -> None:
    order(Cassette(path).attach(deltasoap.Client(mock.wsdl)))
    mock.reply("Order", number=7)
    assert order(Cassette(path, "all").attach(deltasoap.Client(mock.wsdl))) == 7
    assert order(Cassette(path).attach(deltasoap.Client(mock.wsdl))) == 7
    assert Cassette(path).requests == ["Order"]


def test_modes_and_files_are_checked(path: Path) -> None:
    with pytest.raises(ValueError, match="'always' is no mode of a cassette; there are once, none"):
        Cassette(path, "always")
    path.parent.mkdir()
    path.write_text('{"exchanges": ')
    with pytest.raises(CassetteError, match="no file of recorded answers"):
        Cassette(path)


def test_credentials_are_not_written(mock: Mock, path: Path) -> None:
    settings = zeep.Settings(extra_http_headers={"Authorization": "Basic c2VjcmV0"})
    token = wsse.UsernameToken("ada", "secret")
    client = zeep.Client(mock.wsdl, wsse=token, settings=settings)
    Cassette(path).attach(client).service.Catalogue()
    assert b"secret" in mock.requests[0].envelope
    assert mock.requests[0].headers["authorization"] == "Basic c2VjcmV0"
    text = path.read_text()
    assert "Catalogue" in text
    assert "secret" not in text
    assert "c2VjcmV0" not in text


def test_named_elements_and_attributes_are_not_written(path: Path) -> None:
    cassette = Cassette(path, secrets=["Password", "token"])
    sent = network.ENVELOPE.format(
        '<l:Login xmlns:l="urn:l" token="t0p"><l:password x="1">s3cret<![CDATA[<x>]]></l:password>'
        "<l:Passwords>many</l:Passwords><l:token/></l:Login>"
    )

    class Service(Transport):
        def __init__(self) -> None:
            """Without a session."""

        def __del__(self) -> None:
            """There is nothing to close."""

        def post(self, address: str, message: Any, headers: Any) -> Any:
            assert message == sent
            answer = network.ENVELOPE.format("<token>t0p</token>").encode()
            return HttpResponse(200, [("Set-Cookie", "id=t0p")], answer)

    url = "https://ada:s3cret@127.0.0.1/l?key=s3cret"
    cassette.wrap(Service()).post(url, sent, {})
    text = path.read_text()
    assert "s3cret" not in text
    assert "t0p" not in text
    assert "many" in text
    replayed = Cassette(path, secrets=["Password", "token"]).wrap().post(url, sent, {})
    assert b"<token>REDACTED</token>" in replayed.content


def test_transports_of_ones_own_are_recorded(mock: Mock, path: Path) -> None:
    sent = []

    class Own(Transport):
        def post_xml(self, address: str, envelope: Any, headers: Any) -> Any:
            sent.append(envelope.tag)
            return super().post_xml(address, envelope, headers)

    for _ in range(2):
        client = zeep.Client(mock.wsdl, transport=Own())
        assert Cassette(path).attach(client).service.Catalogue().root.name
    assert len(sent) == len(mock.requests) == 1


@pytest.mark.parametrize("make", [deltasoap.AsyncClient, zeep.AsyncClient])
def test_clients_that_are_awaited_are_recorded(mock: Mock, path: Path, make: Any) -> None:
    import asyncio

    mock.reply("Order", number=5)

    async def ordered() -> int:
        client = Cassette(path).attach(make(mock.wsdl))
        placed = await client.service.Order(**network.ORDER)
        return int(placed.number)

    assert [asyncio.run(ordered()) for _ in range(2)] == [5, 5]
    assert len(mock.requests) == 1


def test_the_file_can_be_read(mock: Mock, path: Path) -> None:
    order(Cassette(path).attach(deltasoap.Client(mock.wsdl)))
    (entry,) = json.loads(path.read_text())["exchanges"]
    assert (entry["operation"], entry["action"]) == ("Order", "urn:shop#Order")
    assert "<n1:customer>Ada</n1:customer>" in entry["body"]
    assert entry["url"] == mock.url
    answer = parse_xml("\n".join(entry["response"]["body"]).encode(), None)
    assert answer.findtext(".//{urn:shop}number")


def test_bytes_that_are_no_text_are_kept(path: Path) -> None:
    sent = network.ENVELOPE.format("<x/>").encode()
    with network.server() as server:
        server.answer = (200, "multipart/related", b"--x\r\n\xff\x00\r\n--x--")
        Cassette(path).wrap().post(server.url, sent, {})
    response = Cassette(path).wrap().post(server.url, sent, {})
    assert response.content == server.answer[2]
    assert response.headers["content-type"] == "multipart/related"


def test_fixture_of_a_mock(soap_mock: Callable[..., Mock]) -> None:
    mock = soap_mock("data/echo.wsdl")
    mock.reply("echoDoubles", item=[1.5])
    assert list(mock.client().service.echoDoubles([])) == [1.5]


def test_fixtures_in_a_project(tmp_path: Path) -> None:
    (tmp_path / "shop.wsdl").write_text(network.WSDL.read_text())
    (tmp_path / "test_it.py").write_text(
        "import deltasoap, pytest\n"
        "def order(client):\n"
        '    item = [{"code": "A-1", "count": 2}]\n'
        '    return client.service.Order(customer="Ada", item=item).number\n'
        "def test_default(soap_mock, soap_cassette):\n"
        '    mock = soap_mock("shop.wsdl")\n'
        '    mock.reply("Order", number=5)\n'
        "    assert order(soap_cassette.attach(deltasoap.Client(mock.wsdl))) == 5\n"
        '@pytest.mark.soap_cassette("named.json", secrets=["customer"])\n'
        "def test_marked(soap_mock, soap_cassette):\n"
        "    client = soap_cassette.attach(deltasoap.Client(soap_mock('shop.wsdl').wsdl))\n"
        "    assert order(client) > 0\n"
    )
    run = [sys.executable, "-m", "pytest", "-q", "--strict-markers", str(tmp_path)]
    refused = subprocess.run([*run, "--soap-record=none"], capture_output=True, text=True)
    assert "there is no file" in refused.stdout, refused.stdout + refused.stderr
    passed = subprocess.run(run, capture_output=True, text=True)
    assert "2 passed" in passed.stdout, passed.stdout + passed.stderr
    assert (tmp_path / "cassettes" / "test_it" / "test_default.json").exists()
    assert "Ada" not in (tmp_path / "named.json").read_text()


def test_the_wsdl_is_at_its_address(mock: Mock) -> None:
    with urlopen(mock.wsdl) as response:
        text = response.read().decode()
    assert f'location="{mock.url}"' in text
    assert "localhost:8080" not in text
