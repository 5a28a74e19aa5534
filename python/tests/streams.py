"""Streams of messages, and a naive reading of them by lxml, to compare decoded columns with."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from lxml import etree

HERE = Path(__file__).parent
TESTDATA = HERE.parents[1] / "testdata"
INVOICES = HERE / "data/invoices.wsdl"
VSPHERE = TESTDATA / "wsdl/vsphere-fetch.wsdl"
TR069 = TESTDATA / "wsdl/BroadbandForum+cwmp-data-models/cwmp-1-0.xsd"

_XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
_ENCODED = "{http://schemas.xmlsoap.org/soap/encoding/}"
_ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>{}'
    "</soap:Body></soap:Envelope>"
)

Leaves = dict[tuple[str, ...], list[Any]]


def invoices(count: int, seed: int = 1, most: int = 12) -> list[bytes]:
    """Requests for the numbers of invoices, of at most so many each."""
    chosen = random.Random(seed)
    return [_submit(chosen, number, chosen.randrange(1, most + 1)) for number in range(count)]


def _submit(chosen: random.Random, number: int, count: int) -> bytes:
    invoices = "".join(_invoice(chosen, number * 1000 + each) for each in range(count))
    return _ENVELOPE.format(
        f'<Submit xmlns="urn:invoices"><auth><token>t{number // 50}</token>'
        f"<issuer>{30_000_000_000 + number % 7}</issuer></auth>"
        f"<count>{count}</count>{invoices}</Submit>"
    ).encode()


def _invoice(chosen: random.Random, number: int) -> str:
    net = chosen.randrange(1, 10_000_000) / 100
    date = f"<date>2026-0{chosen.randrange(1, 10)}-1{chosen.randrange(10)}</date>"
    sent = f"<sent>2026-03-0{chosen.randrange(1, 10)}T10:20:{chosen.randrange(10, 60)}.5Z</sent>"
    remark = chosen.choice(
        ["", "<remark>a &amp; b ü</remark>", f'<remark xmlns:x="{_XSI[1:-1]}" x:nil="true"/>']
    )
    tax = f"<tax><id>5</id><base>{net}</base><amount>{net * 0.21:.2f}</amount></tax>"
    taxes = f"<taxes>{tax * chosen.randrange(1, 3)}</taxes>" if chosen.random() < 0.8 else ""
    return (
        f'<invoice ref="r{number % 17}"><concept>{chosen.randrange(4)}</concept>'
        f"<document>{chosen.randrange(1 << 63, 1 << 64)}</document><number>{number}</number>"
        f"{chosen.choice(['', date])}{chosen.choice(['', sent])}<total>{net * 1.21:.2f}</total>"
        f"<net>{net}</net><currency>PES</currency>{remark}{taxes}</invoice>"
    )


def vsphere(direction: str) -> list[bytes]:
    """The recorded session of a vCenter."""
    folder = TESTDATA / "sequences/vsphere-fetch"
    return [path.read_bytes() for path in sorted(folder.glob(f"*.{direction}.xml"))]


def informs(count: int, seed: int = 1) -> list[tuple[str, bytes]]:
    """Senders and their messages: what routers send, of which counters and times change."""
    chosen = random.Random(seed)
    folder = TESTDATA / "sequences/tr069-inform"
    files = [path for path in sorted(folder.glob("*.xml")) if "response" not in path.name]
    of_version = [path for path in files if b"cwmp-1-0" in path.read_bytes()]
    sent = []
    for number in range(count):
        path = of_version[number % len(of_version)]
        tree = etree.fromstring(path.read_bytes())
        for retries in tree.iterfind(".//RetryCount"):
            retries.text = str(chosen.randrange(4))
        for time in tree.iterfind(".//CurrentTime"):
            time.text = f"2026-05-0{chosen.randrange(1, 10)}T01:02:03Z"
        for value in tree.iterfind(".//ParameterValueStruct/Value"):
            if chosen.random() < 0.1 and value.text and value.text.isdigit():
                value.text = str(chosen.randrange(1000))
        sent.append((path.stem, etree.tostring(tree)))
    return sent


def leaves_of_message(message: bytes) -> Leaves:
    """The texts of a message's body by their paths. Those that are empty or nil are left out."""
    envelope = etree.fromstring(message)
    body = next(each for each in envelope if etree.QName(each).localname == "Body")
    leaves: Leaves = defaultdict(list)
    _walk(body[0], (), leaves)
    return dict(leaves)


def _walk(element: Any, path: tuple[str, ...], leaves: Leaves) -> None:
    if element.get(f"{_XSI}nil") in ("true", "1"):
        return
    for name, value in element.attrib.items():
        if not name.startswith((_XSI, _ENCODED)) and value:
            leaves[(*path, f"@{etree.QName(name).localname}")].append(value)
    children = [each for each in element if isinstance(each.tag, str)]
    if not children and element.text:
        leaves[path].append(element.text)
    # Items of SOAP arrays have names that mean nothing.
    is_array = element.get(f"{_ENCODED}arrayType") is not None
    for child in children:
        step = () if is_array else (etree.QName(child).localname,)
        _walk(child, (*path, *step), leaves)


def leaves_of_row(row: dict[str, Any]) -> Leaves:
    """The values of a row by their paths. Those that are null or empty are left out."""
    leaves: Leaves = defaultdict(list)
    _descend(row, (), leaves)
    return dict(leaves)


def _descend(value: Any, path: tuple[str, ...], leaves: Leaves) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "$json" and inner is not None:
                _descend(json.loads(inner), path, leaves)
            elif name == "$content":
                _descend_tree(inner, path, leaves)
            elif name not in ("$type", "$ns", "$name"):
                _descend(inner, path if name in ("$", "$choice") else (*path, name), leaves)
    elif isinstance(value, list):
        for item in value:
            _descend(item, path, leaves)
    elif value is not None and value != "" and value != b"":
        leaves[path].append(value)


def _descend_tree(content: list[Any], path: tuple[str, ...], leaves: Leaves) -> None:
    """What no schema describes is JSON with the elements in their order."""
    for each in content:
        step = (each["$name"].rpartition("}")[2],) if isinstance(each, dict) else ()
        _descend(each, (*path, *step), leaves)


def is_same(text: str, value: Any) -> bool:
    """Whether a text of a message is this value."""
    if isinstance(value, bool):
        return text.strip() in (("true", "1") if value else ("false", "0"))
    if isinstance(value, int):
        return int(text) == value
    if isinstance(value, float):
        return float(text) == value
    if isinstance(value, decimal.Decimal):
        return decimal.Decimal(text) == value
    if isinstance(value, bytes):
        return base64.b64decode(text) == value
    if isinstance(value, datetime.datetime):
        moment = datetime.datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=moment.tzinfo or datetime.timezone.utc) == value
    if isinstance(value, datetime.date):
        return datetime.date.fromisoformat(text.strip()) == value
    return text == value


def assert_same(message: bytes, row: dict[str, Any]) -> int:
    """Compare all leaves of a message and a row; return their number."""
    texts, values = leaves_of_message(message), leaves_of_row(row)
    assert texts.keys() == values.keys(), set(texts).symmetric_difference(values)
    for path, of_path in texts.items():
        found = values[path]
        assert len(of_path) == len(found), path
        for text, value in zip(of_path, found, strict=True):
            assert is_same(text, value), (path, text, value)
    return sum(map(len, texts.values()))
