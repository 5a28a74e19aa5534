"""What works on envelopes as elements: tokens, addressing, attachments and references."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from deltasoap import ns, plugins, wsa, wsse
from deltasoap.wsdl.attachments import Attachment, MessagePack, related_parts
from deltasoap.wsdl.multiref import process_multiref
from deltasoap.wsdl.utils import url_http_to_https
from deltasoap.wsdl.xop import process_xop

NAMES = {"s": ns.SOAP_ENV_11, "wsse": ns.WSSE, "wsu": ns.WSU, "wsa": ns.WSA}


def envelope(body: str = "") -> etree._Element:
    """An envelope without a header."""
    return etree.fromstring(
        f'<s:Envelope xmlns:s="{ns.SOAP_ENV_11}"><s:Body>{body}</s:Body></s:Envelope>'
    )


def test_a_token_has_the_password_or_its_digest() -> None:
    secured, _ = wsse.UsernameToken("ada", "secret").apply(envelope(), {})
    assert secured.findtext(".//wsse:Password", namespaces=NAMES) == "secret"
    token = wsse.UsernameToken(
        "ada",
        "secret",
        use_digest=True,
        nonce="n",
        created=datetime.datetime(2024, 1, 1),
        zulu_timestamp=True,
    )
    secured, _ = token.apply(envelope(), {})
    assert secured.findtext(".//wsu:Created", namespaces=NAMES) == "2024-01-01T00:00:00Z"
    # SHA-1 of "n2024-01-01T00:00:00Zsecret".
    assert secured.findtext(".//wsse:Password", namespaces=NAMES) == "W+YKJiLU5ZxuRgZXt36DA8VMhac="


def test_composed_objects_share_one_header() -> None:
    both = wsse.Compose([wsse.UsernameToken("ada"), wsse.UsernameToken("grace")])
    secured, _ = both.apply(envelope(), {})
    assert len(secured.findall(".//wsse:Security", namespaces=NAMES)) == 1
    assert len(secured.findall(".//wsse:Username", namespaces=NAMES)) == 2
    both.verify(secured)


def test_addressing_falls_back_to_the_action_of_soap() -> None:
    operation = SimpleNamespace(abstract=SimpleNamespace(wsa_action=None), soapaction="urn:act")
    options = {"address": "http://h/"}
    sent, _ = wsa.WsAddressingPlugin().egress(envelope(), {}, operation, options)
    assert sent.findtext(".//wsa:Action", namespaces=NAMES) == "urn:act"
    assert sent.findtext(".//wsa:To", namespaces=NAMES) == "http://h/"
    assert sent[0].nsmap["wsa"] == ns.WSA


def test_history_keeps_the_last_exchanges() -> None:
    history = plugins.HistoryPlugin(maxlen=2)
    client = SimpleNamespace(plugins=[history])
    first, second = envelope("1"), envelope("2")
    plugins.apply_egress(client, first, {}, None, {})
    assert history.last_received is None
    plugins.apply_ingress(client, second, {"a": "b"}, None)
    assert history.last_sent["envelope"] is first
    assert history.last_received == {"envelope": second, "http_headers": {"a": "b"}}


def test_multipart_bodies_are_split() -> None:
    body = (
        b"preamble\r\n--b\r\nContent-Type: text/xml\r\n\r\n<a/>\r\n--b\r\n"
        b"content-id: <1>\r\nContent-Transfer-Encoding: base64\r\n\r\naGk=\r\n"
        b"--b\r\nContent-ID: <2>\r\n\r\n\r\n--\r\n--b--\r\nepilogue"
    )
    root, parts = related_parts(body, 'multipart/related; boundary="b"')
    pack = MessagePack(parts)
    assert root == b"<a/>"
    assert [each.content_id for each in pack.attachments] == ["<1>", "<2>"]
    assert [each.content for each in pack.attachments] == [b"hi", b"\r\n--"]
    assert pack.get_by_content_id("<3>") is None


def test_xop_includes_are_replaced() -> None:
    message = etree.fromstring(f'<a><x:Include xmlns:x="{ns.XOP}" href="cid:1%40h"/></a>')
    part: Any = SimpleNamespace(
        headers={b"Content-ID": b"<1@h>"}, content=b"\xff", encoding="utf-8"
    )
    assert process_xop(message, MessagePack([part])) is True
    assert etree.tostring(message) == b"<a>/w==</a>"
    assert Attachment(part).content == b"\xff"
    message = etree.fromstring(f'<a><x:Include xmlns:x="{ns.XOP}" href="cid:2"/></a>')
    with pytest.raises(ValueError, match="cid:2"):
        process_xop(message, MessagePack([]))


def test_references_are_followed_but_not_around_a_circle() -> None:
    body = etree.fromstring(
        '<b><op><p href="#1"/></op><m id="1" t="x"><q href="#2"/></m>'
        '<m id="2"><r href="#1"/></m></b>'
    )
    process_multiref(body)
    assert etree.tostring(body) == b'<b><op><p t="x"><q><r href="#1"/></q></p></op></b>'


def test_addresses_move_to_https() -> None:
    assert url_http_to_https("http://h:80/a?b") == "https://h/a?b"
    assert url_http_to_https("http://h:8080/a") == "https://h:8080/a"
    assert url_http_to_https("ftp://h/a") == "ftp://h/a"
