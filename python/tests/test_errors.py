"""Errors of clients: their classes, where they say something is wrong, and what helps."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import network
import pytest

import deltasoap
from deltasoap import exceptions
from deltasoap.http import HttpTransport

PAGE = b"<!DOCTYPE html>\n<html><body>Please log in<br></body></html>"


@pytest.fixture(scope="module")
def client() -> Any:
    return deltasoap.Client(str(network.WSDL))


@pytest.fixture
def server() -> Iterator[network.Server]:
    with network.server() as running:
        yield running


#: The engine loads documents, or a transport does.
LOADERS = [None, HttpTransport(timeout=0.2)]


@pytest.mark.parametrize("transport", LOADERS)
def test_an_unknown_host_of_a_wsdl(transport: Any) -> None:
    url = "http://no-such-host.invalid/shop?wsdl"
    with pytest.raises(exceptions.ConnectionError, match="no-such-host.invalid") as raised:
        deltasoap.Client(url, transport=transport)
    assert str(raised.value).count(url) == 1
    assert "HttpTransportBuilder" not in str(raised.value)


@pytest.mark.parametrize("transport", LOADERS)
def test_a_wsdl_that_is_not_there(server: network.Server, tmp_path: Path, transport: Any) -> None:
    server.answer = (404, "text/html", PAGE)
    with pytest.raises(exceptions.TransportError, match="404.*; check the URL") as raised:
        deltasoap.Client(server.url, transport=transport)
    assert raised.value.status_code == 404
    with pytest.raises(FileNotFoundError, match="no-such.wsdl"):
        deltasoap.Client(str(tmp_path / "no-such.wsdl"), transport=transport)


def test_a_wsdl_that_takes_too_long() -> None:
    with network.silence() as url, pytest.raises(exceptions.Timeout) as raised:
        deltasoap.Client(url, transport=HttpTransport(timeout=0.2))
    assert str(raised.value) == (
        f"Loading {url} took longer than 0.2 s; HttpTransport(timeout=...) sets the limit"
    )


@pytest.mark.parametrize("transport", LOADERS)
@pytest.mark.parametrize("page", [PAGE, b"\n<html><p/></html>"])
def test_a_page_instead_of_a_wsdl(server: network.Server, page: bytes, transport: Any) -> None:
    server.answer = (200, "text/html", page)
    with pytest.raises(exceptions.XMLSyntaxError, match="page of HTML.*whether it needs a login"):
        deltasoap.Client(server.url, transport=transport)


def test_an_operation_that_is_unknown(client: Any) -> None:
    with pytest.raises(AttributeError, match="no operation 'Ordr'. Did you mean 'Order'?"):
        client.service.Ordr()
    with pytest.raises(AttributeError, match="no operation 'Buy'; it has Catalogue, Order, Ping"):
        client.service.Buy()


def test_an_argument_that_is_unknown(client: Any) -> None:
    with pytest.raises(TypeError) as raised:
        client.service.Order(custmer="Ada")
    text = str(raised.value)
    assert text.startswith("{urn:shop}Order() got an unexpected keyword argument 'custmer'. Sign")
    assert text.endswith(" Did you mean 'customer'?")
    with pytest.raises(TypeError) as raised:
        client.service.Order(customer="Ada", quantity=1)
    assert "Did you mean" not in str(raised.value)


def test_a_nested_argument_that_is_unknown(client: Any) -> None:
    items = [{"code": "A-1", "count": 1}, {"code": "A-1", "cuont": 2}]
    with pytest.raises(TypeError, match=r"Did you mean 'count'\? \(at item\[1\]\)"):
        client.service.Order(customer="Ada", item=items)


def test_an_element_that_is_missing(client: Any) -> None:
    with pytest.raises(exceptions.ValidationError) as raised:
        client.service.Order(customer="Ada", item=[{"code": "A-1", "count": 1}, {"code": "A-1"}])
    assert str(raised.value) == "Missing element count (item[1].count)"
    assert raised.value.path == ["item[1]", "count"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        ("two", 'found "two" (not a digit)'),
        (2**40, 'found "1099511627776" (above 2147483647)'),
    ],
)
def test_a_value_of_another_type(client: Any, count: Any, text: str) -> None:
    item = {"code": "A-1", "count": 1}
    with pytest.raises(exceptions.ValidationError) as raised:
        client.service.Order(customer="Ada", item=[item, item, {**item, "count": count}])
    assert str(raised.value) == f"expected a value of {{urn:shop}}Count, {text} (item[2].count)"


def test_a_fault(client: Any, server: network.Server) -> None:
    fault = (
        "<s:Fault><faultcode>s:Server</faultcode><faultstring>sold out</faultstring>"
        '<faultactor>urn:stock</faultactor><detail><left xmlns="urn:d">0</left></detail></s:Fault>'
    )
    server.answer = (500, "text/xml", network.ENVELOPE.format(fault).encode())
    with pytest.raises(exceptions.Fault) as raised:
        network.at(client, server.url).Catalogue()
    error = raised.value
    assert str(error) == error.message == "sold out"
    assert (error.code, error.actor) == ("Server", "urn:stock")
    assert error.detail.findtext("{urn:d}left") == "0"


@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_timeout(is_awaited: bool) -> None:
    make = deltasoap.AsyncClient if is_awaited else deltasoap.Client
    with network.silence() as url:
        client = make(str(network.WSDL), timeout=0.2)
        with pytest.raises(exceptions.Timeout) as raised:
            _call(network.at(client, url).Catalogue, is_awaited)
    assert str(raised.value) == (
        f"{url} did not answer within 0.2 s, the limit set by Client(timeout=...)"
    )


def test_a_timeout_of_an_envelope() -> None:
    from deltasoap.plugins import HistoryPlugin

    with network.silence() as url:
        transport = HttpTransport(operation_timeout=0.2)
        client = deltasoap.Client(str(network.WSDL), transport=transport, plugins=[HistoryPlugin()])
        with pytest.raises(exceptions.Timeout, match=r"limit set by HttpTransport\(operation_time"):
            network.at(client, url).Catalogue()


def _call(operation: Any, is_awaited: bool) -> None:
    if not is_awaited:
        operation()
        return
    import asyncio

    async def call() -> None:
        await operation()

    asyncio.run(call())


def test_a_service_that_is_not_there(client: Any) -> None:
    with network.silence() as url:
        pass
    with pytest.raises(exceptions.ConnectionError, match="nothing listens at 127.0.0.1:"):
        network.at(client, url).Catalogue()
    with pytest.raises(exceptions.ConnectionError, match="check the URL") as raised:
        network.at(client, "http://no-such-host.invalid/").Catalogue()
    assert "HttpTransportBuilder" not in str(raised.value)


def test_an_answer_without_a_message(client: Any, server: network.Server) -> None:
    server.answer = (202, "text/xml", b"")
    with pytest.raises(exceptions.TransportError, match="one-way, but its WSDL declares") as raised:
        network.at(client, server.url).Catalogue()
    assert "Client::" not in str(raised.value)


def test_a_redirection(client: Any, server: network.Server) -> None:
    server.answer = (302, "text/html", b"")
    server.location = "/other"
    with pytest.raises(exceptions.TransportError, match="pass a deltasoap.Transport") as raised:
        network.at(client, server.url).Catalogue()
    assert "ClientBuilder" not in str(raised.value)


def test_a_certificate_that_is_not_trusted(client: Any, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        + ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
        + ["subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)],
        capture_output=True,
    )
    if made.returncode != 0:
        pytest.skip("openssl makes no certificate")
    with network.server() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        secured = network.Server(("127.0.0.1", 0), server.RequestHandlerClass)
        secured.socket = context.wrap_socket(secured.socket, server_side=True)
        secured.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=secured.serve_forever, args=(0.05,), daemon=True).start()
        url = f"https://localhost:{secured.server_address[1]}/shop"
        with pytest.raises(exceptions.ConnectionError, match="not trusted.*`verify`"):
            network.at(client, url).Catalogue()
        with pytest.raises(exceptions.ConnectionError, match="not trusted.*`verify`"):
            deltasoap.Client(url)
        with pytest.raises(exceptions.ConnectionError, match="certificate verify failed"):
            deltasoap.Client(url, transport=HttpTransport())
        secured.shutdown()
        secured.server_close()
    with pytest.raises(exceptions.ConnectionError, match="TLS"), network.server() as server:
        network.at(client, server.url.replace("http:", "https:")).Catalogue()


@pytest.mark.parametrize("status", [200, 401, 503])
def test_a_page_instead_of_an_answer(client: Any, server: network.Server, status: int) -> None:
    server.answer = (status, "text/html", PAGE)
    with pytest.raises(exceptions.TransportError) as raised:
        network.at(client, server.url).Catalogue()
    error = raised.value
    assert f"{server.url} answered with HTTP status {status}" in str(error)
    assert "no SOAP message, but text/html: " in str(error)
    assert error.status_code == status
    assert isinstance(error.content, bytes)
    assert b"Please log in" in error.content


def test_an_answer_with_a_wrong_value(client: Any, server: network.Server) -> None:
    content = '<OrderResponse xmlns="urn:shop"><number>five</number></OrderResponse>'
    server.answer = (200, "text/xml", network.ENVELOPE.format(content).encode())
    with pytest.raises(exceptions.XMLParseError, match="/Body/OrderResponse/number, at byte"):
        network.at(client, server.url).Order(**network.ORDER)
