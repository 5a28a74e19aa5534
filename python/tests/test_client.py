"""Calls through both faces: the engine's HTTP, and requests or httpx with lxml."""

from __future__ import annotations

import asyncio
import datetime
import gc
import io
import threading
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import network
import pytest
from lxml import etree

import deltasoap
from deltasoap import exceptions, xsd, zeep
from deltasoap.helpers import serialize_object
from deltasoap.plugins import HistoryPlugin

WSDL = str(Path(__file__).with_name("data") / "shop.wsdl")
SOAP = "{http://schemas.xmlsoap.org/soap/envelope/}"
SHOP = "{urn:shop}"
BINDING = f"{SHOP}ShopBinding"

RATES = """\
<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:rates"
    xmlns:http="http://schemas.xmlsoap.org/wsdl/http/"
    xmlns:mime="http://schemas.xmlsoap.org/wsdl/mime/"
    xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:rates" name="Rates">
  <types><xs:schema targetNamespace="urn:rates">
    <xs:element name="rate" type="xs:decimal"/>
  </xs:schema></types>
  <message name="Get"><part name="currency" type="xs:string"/></message>
  <message name="Got"><part name="body" element="t:rate"/></message>
  <portType name="Rates"><operation name="rate">
    <input message="t:Get"/><output message="t:Got"/>
  </operation></portType>
  <binding name="{verb}" type="t:Rates"><http:binding verb="{verb}"/>
    <operation name="rate"><http:operation location="/rate"/>
      <input>{layout}</input>
      <output><mime:mimeXml part="body"/></output>
    </operation>
  </binding>
  <service name="Rates"><port name="Rates" binding="t:{verb}">
    <http:address location="http://127.0.0.1:9"/>
  </port></service>
</definitions>
"""


class Shop(BaseHTTPRequestHandler):
    """Answers with what it got: articles come back, numbers are added, no number is a fault."""

    def do_POST(self) -> None:
        """Answer a call."""
        request = etree.fromstring(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((dict(self.headers), request))  # type: ignore[attr-defined]
        body = request.find(f"{SOAP}Body")
        assert body is not None
        status, answer = self._answer(body[0])
        text = f'<s:Envelope xmlns:s="{SOAP[1:-1]}"><s:Body>{answer}</s:Body></s:Envelope>'
        self.send_response(status)
        self.send_header("Content-Type", "text/xml; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def _answer(self, call: etree._Element) -> tuple[int, str]:
        if call.tag == f"{SHOP}put":
            articles = "".join(etree.tostring(each, encoding="unicode") for each in call)
            return 200, f'<putResponse xmlns="urn:shop">{articles}</putResponse>'
        numbers = [float(each.text or "") for each in call]
        if not numbers:
            detail = '<detail><why xmlns="urn:shop">empty</why></detail>'
            fault = f"<faultcode>s:Client</faultcode><faultstring>No numbers</faultstring>{detail}"
            return 500, f"<s:Fault>{fault}</s:Fault>"
        return 200, f'<totalResponse xmlns="urn:shop"><sum>{sum(numbers)}</sum></totalResponse>'

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Any]:
    """A shop on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as made:
        made.requests = []  # type: ignore[attr-defined]
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture(params=["engine", "requests"])
def client(request: pytest.FixtureRequest) -> Any:
    """A client of each face."""
    if request.param == "engine":
        return deltasoap.Client(WSDL, columns=False)
    return zeep.Client(WSDL)


def service_of(client: Any, server: Any) -> Any:
    """The operations at the address of the test's server."""
    return client.create_service(BINDING, f"http://127.0.0.1:{server.server_port}/shop")


def test_results_are_unwrapped(client: Any, server: Any) -> None:
    assert service_of(client, server).total(value=[1.5, 2]) == 3.5
    assert service_of(client, server).total([1]) == 1.0


def test_values_come_back_as_they_were_sent(client: Any, server: Any) -> None:
    article = client.get_type(f"{SHOP}Article")(
        name="Pen", price=Decimal("1.10"), tag=["a", "b"], since=datetime.date(2024, 2, 29), id=7
    )
    (received,) = service_of(client, server).put(article=[article])
    assert received == article
    assert serialize_object(received)["price"] == Decimal("1.10")


def test_derived_types_are_named(client: Any, server: Any) -> None:
    book = client.get_type("ns0:Book")(name="B", price=1, isbn="x")
    (received,) = service_of(client, server).put(article=[book])
    assert type(received).__name__ == "Book" and received.isbn == "x"


class Mislabelled(Shop):
    """Names a type that the WSDL does not have."""

    def _answer(self, call: etree._Element) -> tuple[int, str]:
        for each in call:
            each.set("{http://www.w3.org/2001/XMLSchema-instance}type", "q:nope")
        status, answer = super()._answer(call)
        return status, answer.replace("<putResponse", '<putResponse xmlns:q="urn:q"')


def test_unknown_types_are_read_as_the_declared_one(client: Any, server: Any) -> None:
    server.RequestHandlerClass = Mislabelled
    article = {"name": "Pen", "price": Decimal("1.10"), "tag": ["a"], "since": None, "id": 7}
    (received,) = service_of(client, server).put(article=[article])
    assert type(received).__name__ == "Article" and serialize_object(received) == article


def test_columns_within_unknown_types(server: Any) -> None:
    server.RequestHandlerClass = Mislabelled
    service = service_of(deltasoap.Client(WSDL), server)
    (received,) = service.put(article=[{"name": "Pen", "price": 1, "tag": ["a", "b"]}])
    assert received.tag == ["a", "b"] and not isinstance(received.tag, list)


def test_dicts_and_other_objects_are_taken(client: Any, server: Any) -> None:
    service = service_of(client, server)
    assert service.put(article={"name": "Pen", "price": 1})[0].price == 1
    assert service.put(article=[{"name": "Pen", "price": "1.5"}])[0].tag == []


@pytest.mark.parametrize("headers", ["dict", "list", "element"])
def test_header_blocks(client: Any, server: Any, headers: str) -> None:
    block = etree.Element(f"{SHOP}session")
    block.text = "s-1"
    kind = xsd.ComplexType([xsd.Element(f"{SHOP}token", xsd.String())])
    token = xsd.Element(f"{SHOP}login", kind)(token="s-1")
    values: Any = {"dict": {"session": "s-1"}, "list": [token], "element": [block]}[headers]
    service_of(client, server).put(article={"name": "a", "price": 1}, _soapheaders=values)
    (_, sent) = server.requests[-1]
    (header,) = sent.find(f"{SOAP}Header")
    assert "".join(header.itertext()) == "s-1"
    assert header.tag == f"{SHOP}{'login' if headers == 'list' else 'session'}"


def test_default_header_blocks_join_those_of_a_call(client: Any, server: Any) -> None:
    client.set_default_soapheaders({"session": "s-1"})
    service = service_of(client, server)
    service.put(article={"name": "a", "price": 1})
    assert server.requests[-1][1].findtext(f"{SOAP}Header/{SHOP}session") == "s-1"
    with pytest.raises(ValueError, match="the default ones are a dict"):
        service.put(article={"name": "a", "price": 1}, _soapheaders=[etree.Element("a")])


def test_http_headers_of_a_block(client: Any, server: Any) -> None:
    with client.settings(extra_http_headers={"X-Token": "t"}):
        service_of(client, server).total(value=[1])
    service_of(client, server).total(value=[1])
    tokens = [headers.get("X-Token", headers.get("x-token")) for headers, _ in server.requests]
    assert tokens == ["t", None]


def test_faults_are_raised_with_their_detail(client: Any, server: Any) -> None:
    with pytest.raises(exceptions.Fault, match="No numbers") as caught:
        service_of(client, server).total()
    assert caught.value.code is not None and caught.value.code.endswith("Client")
    assert caught.value.detail.findtext(f"{SHOP}why") == "empty"


def test_invalid_arguments_name_their_place(client: Any, server: Any) -> None:
    service = service_of(client, server)
    with pytest.raises(exceptions.ValidationError, match="Missing element price") as caught:
        service.put(article=[{"name": "a"}])
    assert str(caught.value.path[-1]) == "price"
    with pytest.raises(TypeError, match="unexpected keyword argument 'valu'"):
        service.total(valu=[1])
    assert not server.requests


def test_operations_say_what_they_take(client: Any) -> None:
    assert client.service.total.__doc__ == "total(value: xsd:double[]) -> sum: xsd:double"
    assert client.service.put.__doc__ == (
        "put(article: ns0:Article[], _soapheaders={session: xsd:string}) -> article: ns0:Article[]"
    )
    assert {name for name, _ in client.service} == {"put", "total"}
    with pytest.raises(AttributeError, match="no operation 'totl'. Did you mean 'total'"):
        client.service.totl  # noqa: B018
    assert client["Second"]._binding_options == {"address": "http://localhost/second"}
    with pytest.raises(ValueError, match="there is \\['ShopPort', 'Second'\\]"):
        client.bind("ShopService", "Third")


def test_messages_can_be_made_without_sending(client: Any) -> None:
    client.set_ns_prefix("s", "urn:shop")
    message = client.create_message(client.service, "total", value=[1])
    assert etree.tostring(message) == (
        b'<soap-env:Envelope xmlns:soap-env="http://schemas.xmlsoap.org/soap/envelope/" '
        b'xmlns:s="urn:shop"><soap-env:Body><s:total><s:value>1</s:value></s:total>'
        b"</soap-env:Body></soap-env:Envelope>"
    )


def test_types_that_no_message_has_can_be_used(client: Any) -> None:
    kind = client.get_type(f"{SHOP}Unused")
    node = etree.Element("a")
    kind.render(node, kind(x=5))
    assert etree.tostring(node) == b'<a><ns0:x xmlns:ns0="urn:shop">5</ns0:x></a>'
    assert kind.parse_xmlelement(node).x == 5


def test_types_built_in_python_use_those_of_a_wsdl(client: Any) -> None:
    article = client.get_type(f"{SHOP}Article")
    box = xsd.Element("{urn:box}box", xsd.ComplexType([xsd.Element("{urn:box}a", article)]))
    node = etree.Element("root")
    box.render(node, box(a={"name": "Pen", "price": 2}))
    assert node.findtext(f"{{urn:box}}box/{{urn:box}}a/{SHOP}name") == "Pen"
    # The classes of values last as long as the type.
    gc.collect()
    assert box.parse(node[0], None).a.price == 2


def test_the_wsdl_is_printed(client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    client.wsdl.dump()
    shown = capsys.readouterr().out
    assert "ns0: urn:shop" in shown
    assert "ns0:Unused(x: xsd:int)" in shown
    assert "Soap11Binding: {urn:shop}ShopBinding" in shown
    assert "total(value: xsd:double[]) -> sum: xsd:double" in shown


#: Operations with an output that nobody defines, with a part whose element is missing, and with a
#: body of parts that the message does not have.
FLAWED = b"""<w:definitions targetNamespace="urn:f" xmlns:t="urn:f"
    xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://schemas.xmlsoap.org/wsdl/soap/">
  <w:types><schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:f">
    <element name="a" type="int"/><element name="b" type="int"/>
  </schema></w:types>
  <w:message name="good"><w:part name="a" element="t:a"/>
    <w:part name="b" element="t:b"/></w:message>
  <w:message name="bad"><w:part name="c" element="t:c"/></w:message>
  <w:portType name="P">
    <w:operation name="undefined"><w:input message="t:good"/><w:output message="t:n"/></w:operation>
    <w:operation name="missing"><w:input message="t:bad"/></w:operation>
    <w:operation name="blocks"><w:input message="t:good"/><w:output message="t:good"/></w:operation>
  </w:portType>
  <w:binding name="B" type="t:P">
    <s:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    <w:operation name="undefined"><s:operation soapAction="" style="rpc"/>
      <w:input><s:body use="literal"/></w:input><w:output><s:body use="literal"/></w:output>
    </w:operation>
    <w:operation name="missing"><s:operation soapAction=""/>
      <w:input><s:body use="literal"/><s:header message="t:bad" part="c" use="literal"/></w:input>
    </w:operation>
    <w:operation name="blocks"><s:operation soapAction=""/>
      <w:input><s:body use="literal" parts="a"/>
        <s:header message="t:bad" part="c" use="literal"/></w:input>
      <w:output><s:body use="literal" parts="x"/>
        <s:header message="t:good" part="b" use="literal"/></w:output>
    </w:operation>
  </w:binding>
  <w:service name="S"><w:port name="P" binding="t:B"><s:address location="http://a/"/></w:port>
  </w:service>
</w:definitions>"""


def test_a_flawed_wsdl_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match=r"invalid part|was not found in the wsdl:portType"):
        deltasoap.Client(io.BytesIO(FLAWED)).wsdl.dump()
    operations = capsys.readouterr().out.partition("Operations:")[2].split("\n")
    assert [each.strip() for each in operations if each.strip()] == [
        "blocks(xsd:int) -> header: {b: xsd:int}, body: None"
    ]


def test_plugins_see_the_messages(client: Any, server: Any) -> None:
    history = HistoryPlugin()
    client.plugins.append(history)
    assert service_of(client, server).total(value=[2]) == 2.0
    assert history.last_sent["envelope"].tag == f"{SOAP}Envelope"
    assert history.last_received is not None
    assert history.last_received["envelope"].findtext(f".//{SHOP}sum") == "2.0"


def test_raw_responses_are_those_of_requests(client: Any, server: Any) -> None:
    with client.settings(raw_response=True):
        response = service_of(client, server).total(value=[2])
    assert response.status_code == 200 and b"<sum>2.0</sum>" in response.content


def test_only_clients_without_a_transport_use_the_engine(server: Any) -> None:
    client = deltasoap.Client(WSDL)
    service_of(client, server).total(value=[2])
    service_of(client, server).total(value=[2])
    assert client.stats["requests"] == 2
    assert server.requests[0][0].get("User-Agent", "").startswith("Zeep") is False
    service_of(zeep.Client(WSDL), server).total(value=[2])
    assert server.requests[-1][0]["User-Agent"].startswith("Zeep/")


def test_to_look_at_the_transport_changes_no_call(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = deltasoap.Client(WSDL)
    assert isinstance(client.transport, deltasoap.HttpTransport)
    monkeypatch.setattr(deltasoap.HttpTransport, "post", None)
    assert service_of(client, server).total(value=[2]) == 2.0


def test_a_transport_has_the_limit_of_calls() -> None:
    with pytest.raises(ValueError, match=r"Transport\(operation_timeout=\.\.\.\)"):
        deltasoap.Client(WSDL, transport=deltasoap.HttpTransport(), timeout=0.2)


FORM = '<mime:content type="application/x-www-form-urlencoded"/>'


@pytest.mark.parametrize(("verb", "layout"), [("GET", "<http:urlEncoded/>"), ("POST", FORM)])
def test_bindings_of_plain_http(tmp_path: Path, verb: str, layout: str) -> None:
    path = tmp_path / "rates.wsdl"
    path.write_text(RATES.format(verb=verb, layout=layout))
    client = deltasoap.Client(str(path), transport=deltasoap.HttpTransport())
    with network.server() as rates:
        rates.answer = (200, "text/xml", b'<rate xmlns="urn:rates">1.25</rate>')
        service = client.create_service(f"{{urn:rates}}{verb}", rates.url)
        assert service.rate(currency="EUR & co") == Decimal("1.25")
    with pytest.raises(ValueError, match=r"plain HTTP need a transport, HttpTransport\(\)"):
        deltasoap.Client(str(path)).create_service(f"{{urn:rates}}{verb}", rates.url)


@pytest.mark.parametrize("face", ["engine", "httpx"])
def test_operations_are_awaited(server: Any, face: str) -> None:
    async def calls() -> list[float]:
        made = deltasoap.AsyncClient if face == "engine" else zeep.AsyncClient
        async with made(WSDL) as client:
            service = service_of(client, server)
            return await asyncio.gather(*(service.total(value=[n]) for n in range(1, 5)))

    assert asyncio.run(calls()) == [1.0, 2.0, 3.0, 4.0]


def test_a_service_that_is_not_there(client: Any) -> None:
    service = client.create_service(BINDING, "http://127.0.0.1:1/shop")
    with pytest.raises(Exception, match="(?i)connect|refused"):
        service.total(value=[1])
