"""Services whose WSDL is made from functions, called by zeep."""

from __future__ import annotations

import base64
import datetime
import enum
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pytest
import requests
import zeep
from shop import XML, envelope

import deltasoap
from deltasoap import Context


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass
class Item:
    code: str
    count: int = 1
    color: Color | None = None
    tags: list[str] = field(default_factory=list)


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)
    class_: str = ""


@dataclass
class OutOfStock(Exception):
    """Too few are left."""

    code: str
    left: int
    color: Color


@dataclass
class Session:
    token: str
    level: Level


MARKS: list[int | None] = [7]


def service() -> deltasoap.Service:
    return deltasoap.Service(name="Shop", namespace="urn:shop")


@contextmanager
def called(of: deltasoap.Service) -> Iterator[Any]:
    with of.run_in_thread() as url:
        yield zeep.Client(f"{url}?wsdl")


def test_simple_types_go_both_ways() -> None:
    shop, seen = service(), []
    kinds = {
        bool: (True, "boolean"),
        int: (2**40, "long"),
        float: (0.1, "double"),
        str: ("a<b&c\u20ac", "string"),
        bytes: (b"\x00\xff", "base64Binary"),
        Decimal: (Decimal("1.10"), "decimal"),
        datetime.datetime: (datetime.datetime(2026, 1, 2, 3, 4, 5), "dateTime"),
        datetime.date: (datetime.date(2026, 1, 2), "date"),
        datetime.time: (datetime.time(3, 4, 5), "time"),
        datetime.timedelta: (datetime.timedelta(hours=30, seconds=1), "duration"),
    }
    for kind in kinds:

        def echo(value: Any) -> Any:
            seen.append(value)
            return value

        echo.__annotations__ = {"value": kind, "return": kind}
        shop.operation(f"echo_{kind.__name__}")(echo)
    with called(shop) as client:
        for kind, (value, xsd) in kinds.items():
            operation = client.service[f"echo_{kind.__name__}"]
            assert operation(value) == value, kind
            assert seen[-1] == value and type(seen[-1]) is kind
            assert f'name="value" type="xsd:{xsd}"' in shop.wsdl


def test_dataclasses_and_enumerations_are_types() -> None:
    shop, seen = service(), []

    @shop.operation
    def order(customer: str, items: list[Item], level: Level = Level.LOW) -> list[Item]:
        """Orders <items>."""
        seen.append((customer, items, level))
        return [Item(each.code, each.count + 1, Color.BLUE, ["x"]) for each in items]

    with called(shop) as client:
        items = [{"code": "A", "count": 2, "color": "red", "tags": ["p", "q"]}, {"code": "B"}]
        answer = client.service.order("Ada", items)
        assert client.service.order("Bob", [], 2) == []
    customer, (first, second), level = seen[0]
    assert (customer, level) == ("Ada", Level.LOW)
    assert first == Item("A", 2, Color.RED, ["p", "q"]) and second == Item("B")
    assert seen[1] == ("Bob", [], Level.HIGH)
    assert [(each.code, each["count"], each.color) for each in answer] == [
        ("A", 3, "blue"),
        ("B", 2, "blue"),
    ]
    assert "Orders &lt;items&gt;." in shop.wsdl


def test_a_type_can_contain_itself_and_keywords_are_names() -> None:
    shop, seen = service(), []

    @shop.operation
    def grow(tree: Tree, from_: str) -> Tree:
        seen.append(from_)
        return Tree("root", [tree, Tree(f"{tree.name}{tree.children[0].class_}")])

    with called(shop) as client:
        given = {"name": "a", "children": [{"name": "b", "class": "c"}]}
        answer = client.service.grow(tree=given, **{"from": "seed"})
    assert seen == ["seed"]
    assert [each.name for each in answer.children] == ["a", "ac"]
    assert answer.children[0].children[0]["class"] == "c"


def test_what_is_optional_can_be_absent() -> None:
    shop, seen = service(), []

    @shop.operation
    def find(
        name: str | None,
        near: Item | None = None,
        most: int = 10,
        marks: list[int | None] = MARKS,
    ) -> Item | None:
        seen.append((name, near, most, marks))
        return near

    with called(shop) as client:
        assert client.service.find() is None
        assert client.service.find("a", {"code": "A"}, 3, [1]).code == "A"
        nil = '<s:marks x:nil="true" xmlns:x="http://www.w3.org/2001/XMLSchema-instance"/>'
        body = envelope(f"<s:find><s:marks>1</s:marks>{nil}</s:find>")
        assert requests.post(client.service._binding_options["address"], body, headers=XML).ok
    assert seen == [(None, None, 10, MARKS), ("a", Item("A"), 3, [1]), (None, None, 10, [1, None])]


def test_arrays_of_numpy_are_lists_of_numbers() -> None:
    shop, seen = service(), []

    @shop.operation
    async def scale(values: npt.NDArray[np.float64], factor: int) -> npt.NDArray[np.float64]:
        seen.append(values)
        return values * factor

    @shop.operation
    def narrow(values: npt.NDArray[np.int32], items: list[Item]) -> npt.NDArray[np.float32]:
        seen.append((values, items))
        return values.astype(np.float32) / 4

    @shop.operation
    def plain(values: list[float]) -> list[float]:
        seen.append(values)
        return values

    with called(shop) as client:
        assert client.service.scale([1.5, 2.0], 3) == [4.5, 6.0]
        assert client.service.scale([], 3) == []
        assert client.service.narrow([1, 2], [{"code": "A"}]) == [0.25, 0.5]
        assert client.service.plain([1.5, 2.5]) == [1.5, 2.5]
    assert [type(each) for each in seen[:2]] == [np.ndarray] * 2
    assert seen[0].dtype == np.float64 and seen[1].size == 0
    values, items = seen[2]
    assert values.dtype == np.int32 and items == [Item("A")]
    assert seen[3] == [1.5, 2.5] and type(seen[3]) is list
    assert 'name="values" type="xsd:int" minOccurs="0" maxOccurs="unbounded"' in shop.wsdl


def test_annotations_choose_another_type() -> None:
    shop = service()

    @shop.operation
    def half(value: Annotated[int, "xsd:unsignedByte"]) -> Annotated[float, "xsd:float"]:
        return value / 2

    with called(shop) as client:
        assert client.service.half(3) == 1.5
        with pytest.raises(zeep.exceptions.Fault, match="value"):
            client.service.half(300)


def test_declared_exceptions_are_faults_of_the_wsdl() -> None:
    shop = service()

    @shop.operation(faults=[OutOfStock])
    def take(code: str) -> None:
        raise OutOfStock(code, 3, Color.RED)

    with called(shop) as client:
        with pytest.raises(zeep.exceptions.Fault, match="OutOfStock") as raised:
            client.service.take("A")
        element = client.get_element("{urn:shop}OutOfStock")
        detail = element.parse(raised.value.detail[0], client.wsdl.types)
    assert (detail.code, detail.left, detail.color) == ("A", 3, "red")


def test_header_blocks_are_declared_by_dataclasses() -> None:
    shop, seen = service(), []

    @shop.operation(headers=[Session], response_headers=[Session])
    def renew(context: Context, name: str) -> str:
        seen.append(context.header(Session))
        context.add_header(Session(f"{name}-2", Level.HIGH))
        return name

    with called(shop) as client:
        session = {"token": "t", "level": 1}
        answer = client.service.renew("n", _soapheaders={"Session": session})
    assert seen == [Session("t", Level.LOW)]
    assert answer.body.renewResult == "n"
    assert (answer.header.Session.token, answer.header.Session.level) == ("n-2", 2)


def test_one_way_operations_have_no_response() -> None:
    import threading

    shop, noted = service(), threading.Event()

    @shop.operation(one_way=True)
    def note(text: str) -> None:
        noted.set()

    with called(shop) as client:
        assert client.service.note("a") is None
        assert noted.wait(10)
    assert "noteResponse" not in shop.wsdl


def test_parts_of_mtom_are_bytes() -> None:
    shop, seen = service(), []

    @shop.operation
    def store(content: bytes) -> bytes:
        seen.append(content)
        return b"z" * 10_000

    include = '<x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:p@q"/>'
    root = envelope(f"<s:store><s:content>{include}</s:content></s:store>")
    body = multipart("application/xop+xml; type=text/xml", root, ("p@q", b"\x00bytes\xff"))
    media = 'multipart/related; boundary=B; type="application/xop+xml"; start-info="text/xml"'
    with shop.run_in_thread() as url:
        reply = requests.post(url, body, headers={"Content-Type": media})
    assert seen == [b"\x00bytes\xff"]
    assert reply.headers["Content-Type"].startswith("multipart/related")
    assert b"z" * 10_000 in reply.content and b"Include" in reply.content


def test_attachments_come_and_go_with_the_context() -> None:
    shop, seen = service(), []

    @shop.operation
    def swap(context: Context) -> str:
        seen.extend(context.attachments)
        return context.attach(b"more", "text/plain")

    body = multipart("text/xml", envelope("<s:swap/>"), ("one", b"first"), ("two", b"second"))
    with shop.run_in_thread() as url:
        media = "multipart/related; boundary=B; type=text/xml"
        reply = requests.post(url, body, headers={"Content-Type": media})
        assert b"Result" in requests.post(url, envelope("<s:swap/>"), headers=XML).content
    assert [(each.content_id, each.content) for each in seen] == [
        ("one", b"first"),
        ("two", b"second"),
    ]
    assert b"more" in reply.content and b"@deltasoap" in reply.content


def multipart(media: str, root: bytes, *parts: tuple[str, bytes]) -> bytes:
    """A package with the boundary B."""
    pieces = [b"--B\r\nContent-Type: " + media.encode() + b"\r\n\r\n" + root + b"\r\n"]
    for name, content in parts:
        head = f"--B\r\nContent-Type: application/octet-stream\r\nContent-ID: <{name}>\r\n\r\n"
        pieces.append(head.encode() + content + b"\r\n")
    return b"".join([*pieces, b"--B--\r\n"])


def test_the_binary_of_a_message_is_its_base64() -> None:
    shop = service()

    @shop.operation
    def size(content: bytes) -> int:
        return len(content)

    text = base64.b64encode(bytes(1000)).decode()
    with shop.run_in_thread() as url:
        body = envelope(f"<s:size><s:content>{text}</s:content></s:size>")
        assert ">1000<" in requests.post(url, body, headers=XML).text


def untyped(value) -> None:  # type: ignore[no-untyped-def]
    pass


def unsaid(value: int):  # type: ignore[no-untyped-def]
    pass


def mapping(value: dict[str, int]) -> None:
    pass


def either(value: int | str) -> None:
    pass


def bare(value: list) -> None:  # type: ignore[type-arg]
    pass


def nested(value: list[list[int]]) -> None:
    pass


def resulting() -> set[int]:
    return set()


def anything(**values: int) -> None:
    pass


def positional(value: int, /) -> None:
    pass


def complexes(value: npt.NDArray[np.complex128]) -> None:
    pass


def annotated(value: Annotated[int, "xsd:string"]) -> None:
    pass


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


def mixed(value: Mixed) -> None:
    pass


@dataclass
class Holder:
    inner: object


def holder(value: list[Holder]) -> None:
    pass


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (untyped, r"untyped\(\) parameter 'value' has no type hint"),
        (unsaid, r"unsaid\(\) has no hint for its result: add one, or '-> None'"),
        (mapping, r"mapping\(\) parameter 'value': dict\[str, int\] has no XML type"),
        (either, r"either\(\) parameter 'value': int \| str has no XML type; only `\| None`"),
        (bare, r"bare\(\) parameter 'value': say what the items of the list are"),
        (nested, r"nested\(\) parameter 'value': lists of lists have no XML type"),
        (resulting, r"resulting\(\) result: set\[int\] has no XML type"),
        (anything, r"anything\(\) takes any keyword"),
        (positional, r"positional\(\) takes 'value' by position"),
        (complexes, r"complexes\(\) parameter 'value': .*complex128.* has no XML type"),
        (annotated, r"annotated\(\) parameter 'value': xsd:string is no type for int"),
        (mixed, r"mixed\(\) parameter 'value': the values of Mixed have to be all str or all int"),
        (holder, r"Holder.inner: object has no XML type"),
    ],
)
def test_hints_without_an_xml_type_are_errors(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        service().operation(function)


def test_a_function_that_is_refused_is_none_of_the_service() -> None:
    refusing = service()
    with pytest.raises(TypeError):
        refusing.operation(complexes)

    @refusing.operation("complexes")
    def reals(value: float) -> float:
        return 2 * value

    with called(refusing) as client:
        assert client.service.complexes(1.5) == 3


EARLY = deltasoap.Service(name="Early", namespace="urn:early")


@EARLY.operation
def later(value: Later) -> Later:
    return value


def never(value: Never) -> None:  # type: ignore[name-defined]  # noqa: F821
    pass


def test_hints_may_name_what_is_defined_later() -> None:
    with called(EARLY) as client:
        assert client.service.later({"name": "a"}) == "a"
    undefined = service()
    undefined.operation(never)
    with pytest.raises(TypeError, match=r"never\(\) has a hint that cannot be looked up: .*Never"):
        undefined.wsgi()


@dataclass
class Later:
    name: str


def test_two_types_of_one_name_are_an_error() -> None:
    shop = service()

    def first(item: Item) -> None:
        pass

    other = dataclass(
        type("Item", (), {"__annotations__": {"name": str}, "__module__": "elsewhere"})
    )

    def second(item: Any) -> None:
        pass

    second.__annotations__ = {"item": other, "return": None}
    shop.operation(first)
    with pytest.raises(TypeError, match=r"elsewhere.Item and .*Item have one name"):
        shop.operation(second)


def test_a_service_needs_a_wsdl_or_a_name() -> None:
    with pytest.raises(TypeError, match="needs a WSDL, or a name and a namespace"):
        deltasoap.Service()
    with pytest.raises(ValueError, match="'My Shop' cannot be the name of a service"):
        deltasoap.Service(name="My Shop", namespace="urn:x")
