"""Modules that `deltasoap generate --python` writes: those that the generator's tests keep."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import importlib.util
import re
import subprocess
import sys
import types
import typing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from deltasoap import generated

CODEGEN = Path(__file__).parents[2] / "crates/deltasoap-codegen/tests"
MODULES = sorted((CODEGEN / "goldens/python").glob("*.py"))
SHOP = str(CODEGEN / "data/shop.wsdl")


def load(name: str) -> Any:
    """A generated module by its name, loaded once."""
    full_name = f"generated_{name}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    spec = importlib.util.spec_from_file_location(full_name, CODEGEN / f"goldens/python/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module


def declared(module: types.ModuleType) -> list[type]:
    """The classes that a module declares."""
    found = [value for value in vars(module).values() if isinstance(value, type)]
    return [each for each in dict.fromkeys(found) if each.__module__ == module.__name__]


class Value:
    """A value as a client returns it: fields by name, and its type."""

    def __init__(self, type_name: str | None, **values: Any) -> None:
        self._xsd_type = types.SimpleNamespace(qname=types.SimpleNamespace(text=type_name))
        self.__values__ = values

    def __contains__(self, name: str) -> bool:
        return name in self.__values__

    def __getitem__(self, name: str) -> Any:
        return self.__values__[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["__values__"][name]
        except KeyError:
            raise AttributeError(name) from None


class Client:
    """A client that records calls, and returns or raises what it is told."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.bound: tuple[str, ...] = ()
        self.wsdl = types.SimpleNamespace(types=self)

    def bind(self, service: str, port: str) -> Client:
        self.bound = (service, port)
        return self

    def create_service(self, binding: str, address: str) -> Client:
        self.bound = (binding, address)
        return self

    def get_type(self, name: str) -> Any:
        return lambda **values: (name, values)

    def __getitem__(self, operation: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((operation, args, kwargs))
            if isinstance(self.result, Exception):
                raise self.result
            return self.result

        async def call_async(*args: Any, **kwargs: Any) -> Any:
            return call(*args, **kwargs)

        return call_async if isinstance(self, AsyncClient) else call

    def deserialize(self, element: Any) -> Any:
        return element.value


class AsyncClient(Client):
    """The same for asyncio."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_can_be_loaded_and_their_annotations_resolved(path: Path) -> None:
    if "pydantic" in path.stem:
        pytest.importorskip("pydantic")
    module = load(path.stem)
    classes = declared(module)
    assert classes
    names = [vars(each)["__deltasoap__"] for each in classes if "__deltasoap__" in vars(each)]
    by_type = generated.classes(module)
    assert len(by_type) == len({name for name in names if name and name in by_type})
    for each in classes:
        hints = typing.get_type_hints(each)
        if dataclasses.is_dataclass(each):
            fields = dataclasses.fields(each)
            xml_names = [field.metadata.get("name", field.name) for field in fields]
            assert len(set(xml_names)) == len(xml_names)
            assert {field.name for field in fields} <= set(hints)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_dataclasses_can_be_made_and_say_what_is_missing(path: Path) -> None:
    if "pydantic" in path.stem:
        pytest.skip("models check the types of values")
    for each in filter(dataclasses.is_dataclass, declared(load(path.stem))):
        required = [
            field.name
            for field in dataclasses.fields(each)
            if field.default is field.default_factory is dataclasses.MISSING
        ]
        assert each(**dict.fromkeys(required))
        if required:
            with pytest.raises(TypeError, match=required[0]):
                each()


def test_types_are_those_of_the_wsdl() -> None:
    shop = load("shop")
    hints = typing.get_type_hints(shop.Article)
    assert hints["symbol"] is str
    assert hints["size"] is shop.Size
    assert hints["smallest"] == shop.Size | None
    assert hints["sizes"] == types.GenericAlias(list, (shop.Size,)) | None
    assert hints["weights"] == list[float] | None
    assert hints["either"] == shop.Size | int | None
    assert hints["level"] is shop.Level
    assert hints["price"] is shop.Money
    assert hints["ratings"] == list[int]
    assert hints["notes"] == list[str | None]
    assert hints["picture"] == bytes | None
    assert hints["datetime"] == datetime.datetime | None
    assert hints["lasts"] == datetime.timedelta | None
    assert hints["year"] == tuple[int, datetime.tzinfo | None] | None
    assert hints["int"] == int | None
    assert hints["two_words"] is bool
    assert hints["level__1"] is str
    assert hints["attr__size"] == str | None
    assert hints["maker"] == shop.ArticleMaker | None
    assert typing.get_type_hints(shop.Money)["_value_1"] == Decimal | None
    assert issubclass(shop.Person, shop.Party) and issubclass(shop.Company, shop.Party)
    assert shop.Address is not shop.Address_Core
    assert typing.get_type_hints(shop.Address)["office"] == shop.Address_Core | None
    assert [each.value for each in shop.Size] == ["small", "very-large", "7"]
    assert issubclass(shop.Size, str) and issubclass(shop.Level, int)
    assert shop.Size.VERY_LARGE == "very-large" and shop.Level.VALUE_2 == -2
    assert shop.Size.__doc__ == "A size."
    assert typing.get_type_hints(shop.OrderValue1)["from"] == str | None
    assert generated.classes(shop)["{urn:shop:core}Address"] is shop.Address_Core


def test_arguments_are_what_a_client_takes() -> None:
    shop = load("shop")
    client = Client(None)
    person = shop.Person(id=1, Address=[shop.Address(street="Here")])
    shop.ShopClient(client).find(
        symbol="A", Size=shop.Size.VERY_LARGE, parties=[person], _soapheaders={"session": "s"}
    )
    address = ("{urn:shop}Address", {"street": "Here"})
    party = ("{urn:shop}Person", {"id": 1, "Address": [address]})
    given = {"symbol": "A", "Size": "very-large", "parties": [party]}
    assert client.calls == [("find", (), {**given, "_soapheaders": {"session": "s"}})]
    assert type(client.calls[0][2]["Size"]) is str
    assert client.bound == ("Shop", "ShopPort")


def test_names_that_python_does_not_have_are_those_of_the_wsdl_again() -> None:
    shop = load("shop")
    client = Client(None)
    article = shop.Article(
        symbol="A",
        size="small",
        level=1,
        price=shop.Money(_value_1=Decimal(1)),
        class_="c",
        two_words=True,
        kind=shop.ArticleKind.NEW,
        maker=shop.ArticleMaker(name="M"),
        level__1="l",
    )
    shop.ShopClient(client).order(Article=article, _value_1=[{"from": "F"}, {"gift": article}])
    name, values = client.calls[0][2]["Article"]
    assert name == "{urn:shop}Article"
    assert values["class"] == "c" and values["two-words"] is True and values["kind"] == "new"
    assert values["maker"] == {"name": "M"}
    assert client.calls[0][2]["_value_1"] == [{"from": "F"}, {"gift": (name, values)}]
    assert "class_" not in values and "list" not in values


def test_responses_are_instances() -> None:
    shop = load("shop")
    values = {
        "symbol": "A",
        "size": "gigantic",
        "sizes": ["small", "7"],
        "either": 3,
        "level": -2,
        "class": "c",
        "two-words": False,
        "kind": "used",
        "price": Value("{urn:shop:core}Money", _value_1=Decimal(2), currency=None),
        "maker": Value(None, name="M"),
        "list": [],
    }
    client = Client([Value("{urn:shop}Article", **values), None])
    found = shop.ShopClient(client).find(symbol="A")
    article = found[0]
    assert type(article) is shop.Article
    # An element with nothing in it, which the client has as None.
    assert type(found[1]) is shop.Article and found[1].ratings == [] and found[1].date is None
    assert article.size == "gigantic" and not isinstance(article.size, enum.Enum)
    assert article.sizes == [shop.Size.SMALL, shop.Size.VALUE_7] and article.either == 3
    assert article.level is shop.Level.VALUE_2 and article.kind is shop.ArticleKind.USED
    assert article.class_ == "c" and article.two_words is False
    assert article.price == shop.Money(_value_1=Decimal(2))
    assert article.maker == shop.ArticleMaker(name="M")
    assert article.ratings == [] and article.date is None


def test_a_value_of_a_derived_type_is_an_instance_of_its_class() -> None:
    shop = load("shop")
    owner = Value("{urn:shop}Person", id=1, Address=[], born=datetime.date(2000, 1, 2))
    client = Client(Value("{urn:shop}Company", id="C", attr__id=2, Address=[], owner=owner))
    company = shop.ShopClient(client).party(id=1)
    assert type(company) is shop.Company and company.id == "C" and company.attr__id == 2
    assert company.owner == shop.Person(id=1, born=datetime.date(2000, 1, 2))
    # A type of another branch, or of no module, is read as what is declared.
    assert type(generated.typed(owner, shop.Company)) is shop.Company
    assert (
        type(generated.typed(Value("{urn:y}T", name="M"), shop.ArticleMaker)) is shop.ArticleMaker
    )


def test_values_that_contain_themselves() -> None:
    shop = load("shop")
    company = Value("{urn:shop}Company", id="C", attr__id=2, Address=[])
    company.__values__["owner"] = company
    made = generated.typed(company, shop.Party)
    assert type(made) is shop.Company and made.owner is made


def test_arrays_stay_arrays() -> None:
    numpy = pytest.importorskip("numpy")
    shop = load("shop")
    ratings = numpy.arange(3, dtype=numpy.int32)
    values = {"ratings": ratings, "notes": ["a"]}
    assert generated.typed(Value("{urn:shop}Article", **values), shop.Article).ratings is ratings
    days = numpy.array(["2020-01-02"], dtype="datetime64[D]")
    assert generated.typed(days, list[datetime.date]) == [datetime.datetime(2020, 1, 2)]


def test_rows_become_instances() -> None:
    shop = load("shop")
    rows = types.SimpleNamespace(to_list=lambda: [{"symbol": "A", "amount": 1.5}])
    assert generated.typed(rows, types.GenericAlias(list, (shop.Sale,))) == [
        shop.Sale(symbol="A", amount=1.5)
    ]


def test_faults_are_exceptions_with_details() -> None:
    from deltasoap import Fault

    shop = load("shop")
    value = Value(None, symbol="A", until=datetime.date(2030, 1, 1))
    detail = [types.SimpleNamespace(tag="{urn:shop}outOfStock", value=value)]
    fault = Fault("sold out", code="Server", actor="me", detail=detail)
    with pytest.raises(shop.OutOfStockError, match="sold out") as raised:
        shop.ShopClient(Client(fault)).order()
    assert isinstance(raised.value, Fault) and raised.value.__cause__ is fault
    assert raised.value.detail == shop.OutOfStock(symbol="A", until=datetime.date(2030, 1, 1))
    assert (raised.value.code, raised.value.actor) == ("Server", "me")
    # `find` does not declare it.
    with pytest.raises(Fault) as other:
        shop.ShopClient(Client(fault)).find(symbol="A")
    assert other.value is fault


def test_header_blocks_of_responses_are_returned() -> None:
    shop = load("shop")
    response = types.SimpleNamespace(
        header={"session": "s"}, body=Value(None, number=1, total=None)
    )
    reply = shop.ShopClient(Client(response)).order()
    assert reply.header == {"session": "s"} and reply.body == shop.OrderResponse(number=1)


def test_clients_for_asyncio() -> None:
    shop = load("shop")
    client = AsyncClient(Value("{urn:shop:core}Money", _value_1=Decimal(1)))
    money = asyncio.run(shop.AsyncShopClient(client).price("A"))
    assert money == shop.Money(_value_1=Decimal(1)) and client.calls == [("price", ("A",), {})]


def test_the_address_can_be_another() -> None:
    shop = load("shop")
    client = Client(None)
    shop.ShopClient(client, address="http://h/").ping()
    assert client.bound == ("{urn:shop}ShopBinding", "http://h/")


def test_a_binding_without_a_port_needs_an_address() -> None:
    class Portless(generated.ServiceClient):
        __deltasoap__ = "{urn:x}B"

    with pytest.raises(ValueError, match=r"\{urn:x\}B.*Portless\(wsdl, address"):
        Portless(Client(None))  # type: ignore[arg-type]


def test_models_of_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic")
    numpy = pytest.importorskip("numpy")
    shop = load("shop_pydantic")
    values = {
        "symbol": "A",
        "size": "small",
        "level": 1,
        "two-words": True,
        "kind": "new",
        "copy": "x",
        "price": Value("{urn:shop:core}Money", _value_1=Decimal(2)),
        "ratings": numpy.arange(2, dtype=numpy.int32),
        "level__1": "l",
    }
    client = Client([Value("{urn:shop}Article", **values)])
    found = shop.ShopClient(client).find(symbol="A")
    article = found[0]
    assert isinstance(article, pydantic.BaseModel)
    assert article.two_words and article.copy_ == "x" and article.ratings == [0, 1]
    assert article.price.value_1 == Decimal(2) and article.size is shop.Size.SMALL
    assert article.model_dump(by_alias=True)["two-words"] is True
    assert generated.typed([None], list[shop.Order]) == [shop.Order()]
    client = Client(None)
    shop.ShopClient(client).order(Article=article, _value_1=[shop.OrderValue1(from_="F")])
    given = client.calls[0][2]
    assert given["Article"][1]["copy"] == "x" and given["_value_1"] == [{"from": "F"}]
    with pytest.raises(pydantic.ValidationError):
        shop.Money(value_1="one")


SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
FAULT = "<s:Fault><faultcode>s:Server</faultcode><faultstring>{}</faultstring>{}</s:Fault>"


class XmlTransport:
    """Answers in place of a service, and keeps the requests: a transport that takes XML."""

    def __init__(self, status: int, header: str, body: str) -> None:
        from deltasoap.transports import Transport

        self.load = Transport().load
        envelope = f'<s:Envelope xmlns:s="{SOAP}" xmlns="urn:shop">{header}<s:Body>{body}</s:Body>'
        content = f"{envelope}</s:Envelope>".encode()
        headers = {"Content-Type": "text/xml"}
        self.response = types.SimpleNamespace(
            status_code=status, content=content, headers=headers, encoding="utf-8"
        )
        self.written: list[str] = []
        # The same without prefixes of tags and of types.
        self.requests: list[str] = []

    def post_xml(self, address: str, envelope: Any, headers: dict[str, str]) -> Any:
        from lxml import etree

        written = etree.tostring(envelope, method="c14n", exclusive=True).decode()
        self.written.append(written)
        self.requests.append(re.sub(r"(</?|type=\")(\w+:)", r"\1", written))
        return self.response


def called(kind: str, body: str, header: str = "", status: int = 200) -> tuple[Any, Any]:
    """A client of a real `deltasoap.Client`, and the service that it calls.

    The messages of the kind `xml` go through lxml, those of `bytes` through the engine alone.
    """
    pytest.importorskip("deltasoap._engine")
    pytest.importorskip("lxml")
    service: Any = XmlTransport(status, header, body)
    if kind == "bytes":
        service = bytes_transport(service)
    return load("shop").ShopClient(SHOP, transport=service), service


def bytes_transport(service: XmlTransport) -> Any:
    """A transport that takes bytes."""
    from lxml import etree

    from deltasoap.transports import Transport

    class BytesTransport(Transport):
        written, requests = service.written, service.requests

        def post(self, address: str, message: Any, headers: Any) -> Any:
            return service.post_xml(address, etree.fromstring(message), headers)

    return BytesTransport()


ORDERED = "<orderResponse><number>7</number><total>2</total></orderResponse>"
KINDS = pytest.mark.parametrize("kind", ["xml", "bytes"])


@KINDS
def test_messages_of_values(kind: str) -> None:
    shop = load("shop")
    client, service = called(
        kind,
        "<partyResponse><party xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='Person'"
        " id='2'><Address><street>S</street></Address><born>2000-01-02</born></party>"
        "</partyResponse>",
    )
    person = shop.Person(id=2, Address=[shop.Address(street="S")], born=datetime.date(2000, 1, 2))
    assert client.party(id=1) == person
    assert re.search(r'<party xmlns(:\w+)?="urn:shop" id="1"></party>', service.requests[0])
    client, service = called(kind, "<findResponse><findResult/></findResponse>")
    assert client.find(symbol="A", Size=shop.Size.VERY_LARGE, parties=[person]) in (None, [])
    request = service.requests[0]
    assert "<Size>very-large</Size>" in request
    assert ':type="Person"' in request and ">2000-01-02</born>" in request


@KINDS
def test_responses_are_unwrapped_as_the_annotations_say(kind: str) -> None:
    shop = load("shop")
    client, _ = called(kind, "<findResponse><findResult/></findResponse>")
    assert client.find(symbol="A") in (None, [])
    money = "<priceResponse currency='USD'>1.5</priceResponse>"
    assert called(kind, money)[0].price("A") == shop.Money(_value_1=Decimal("1.5"), currency="USD")
    assert called(kind, "<pong/>")[0].ping() is None
    client, service = called(kind, ORDERED, "<s:Header><session>s</session></s:Header>")
    items: dict[str, Any] = {"_value_1": [{"from": "F"}], "_value_2": [{"key": "k", "list": [1]}]}
    reply = client.order(card="a", code="3", **items, _soapheaders={"session": "t"})
    assert reply.body.number == 7 and reply.body.total._value_1 == 2
    assert reply.header.session == "s"
    assert "<card>a</card><code>3</code><from>F" in service.requests[0]
    assert "<key>k</key><list>1</list>" in service.requests[0]
    assert ">t</session>" in service.requests[0]


ARTICLE = """
<Article size="big" other="o"><symbol>A</symbol><size>small</size><smallest i:nil="true"/>
<sizes>small 7</sizes><weights>1 2.5</weights><either>3</either><level>1</level>
<price currency="USD">1.5</price><ratings>1</ratings><ratings>2</ratings><marks>1</marks>
<marks i:nil="true"/><notes>n</notes><notes i:nil="true"/><picture>YWI=</picture>
<date>2020-01-02</date><time>01:02:03</time><datetime>2020-01-02T01:02:03Z</datetime>
<lasts>PT1H</lasts><year>2020</year><list>l</list><field>f</field><int>4</int><class>c</class>
<two-words>true</two-words><kind>new</kind><maker><name>M</name></maker><z:any xmlns:z="urn:z"/>
<level>lv</level></Article>
"""
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


@KINDS
def test_everything_that_a_type_can_have_is_read_and_written(kind: str) -> None:
    etree = pytest.importorskip("lxml.etree")
    shop = load("shop")
    client, _ = called(
        kind,
        f"<findResponse xmlns:i='{INSTANCE}'><findResult>{ARTICLE}</findResult></findResponse>",
    )
    article = client.find(symbol="A")[0]
    other = article._value_1
    assert other.tag == "{urn:z}any"
    expected = shop.Article(
        symbol="A",
        size=shop.Size.SMALL,
        sizes=[shop.Size.SMALL, shop.Size.VALUE_7],
        weights=[1.0, 2.5],
        either=3,
        level=shop.Level.VALUE_1,
        price=shop.Money(_value_1=Decimal("1.5"), currency="USD"),
        ratings=[1, 2],
        marks=[1.0, None],
        notes=["n", None],
        picture=b"ab",
        date=datetime.date(2020, 1, 2),
        time=datetime.time(1, 2, 3),
        datetime=datetime.datetime(2020, 1, 2, 1, 2, 3, tzinfo=datetime.timezone.utc),
        lasts=datetime.timedelta(hours=1),
        year=(2020, None),
        list=["l"],
        field="f",
        int=4,
        class_="c",
        two_words=True,
        kind=shop.ArticleKind.NEW,
        maker=shop.ArticleMaker(name="M"),
        _value_1=other,
        level__1="lv",
        attr__size="big",
        _attr_1={"other": "o"},
    )
    assert without_arrays(article) == expected
    client, service = called(kind, ORDERED)
    client.order(
        card="1", code="2", _value_1=[{"gift": article}], _value_2=[{"key": "k", "list": [1]}]
    )
    (gift,) = etree.fromstring(service.written[0]).iter("{urn:shop}gift")
    gift.tag = "{urn:shop}Article"
    sent = etree.tostring(gift).decode()
    client, _ = called(kind, f"<findResponse><findResult>{sent}</findResult></findResponse>")
    again = without_arrays(client.find(symbol="A")[0])
    assert dataclasses.replace(again, _value_1=other) == expected


def without_arrays(value: Any) -> Any:
    """An instance with lists in place of arrays, so that it can be compared."""
    arrays = {name: each.tolist() for name, each in vars(value).items() if hasattr(each, "tolist")}
    return dataclasses.replace(value, **arrays)


@KINDS
def test_lists_of_a_service(kind: str) -> None:
    shop = load("shop")
    sales = "".join(f"<sales><symbol>A{n}</symbol><amount>{n}.5</amount></sales>" for n in range(9))
    amounts = "<amounts>1.5</amounts><amounts>2.5</amounts>"
    days = "<days>2020-01-02T03:04:05</days><days>2020-01-03T00:00:00</days>"
    client, service = called(kind, f"<historyResponse>{sales}{amounts}{days}</historyResponse>")
    history = client.history(sales=[shop.Sale(symbol="A", amount=1.5)])
    assert type(history) is shop.HistoryResponse
    assert history.sales == [shop.Sale(symbol=f"A{n}", amount=n + 0.5) for n in range(9)]
    assert list(history.amounts) == [1.5, 2.5]
    assert history.days == [
        datetime.datetime(2020, 1, 2, 3, 4, 5),
        datetime.datetime(2020, 1, 3),
    ]
    assert "<symbol>A</symbol><amount>1.5</amount>" in service.requests[0]


@KINDS
def test_faults_of_a_service(kind: str) -> None:
    shop = load("shop")
    detail = "<detail><outOfStock><symbol>A</symbol><until>2030-01-01</until></outOfStock></detail>"
    client, _ = called(kind, FAULT.format("sold out", detail), status=500)
    with pytest.raises(shop.OutOfStockError, match="sold out") as raised:
        client.order(
            card="1", code="2", _value_1=[{"from": "F"}], _value_2=[{"key": "k", "list": [1]}]
        )
    assert raised.value.detail == shop.OutOfStock(symbol="A", until=datetime.date(2030, 1, 1))
    client, _ = called(
        kind, FAULT.format("x", "<detail><ClosedFault>night</ClosedFault></detail>"), status=500
    )
    with pytest.raises(shop.ClosedError) as closed:
        client.find(symbol="A")
    assert closed.value.detail == "night"


USE = """
import asyncio
import datetime
from typing import TYPE_CHECKING, cast

import shop
from deltasoap import Client

if TYPE_CHECKING:
    import shop_stub

client = shop.ShopClient("shop.wsdl")
found = client.find(symbol="A", Size=shop.Size.SMALL, parties=[shop.Person(id=1)])
for article in found or []:
    text: str = article.symbol
    numbers = article.ratings
    day: datetime.date | None = article.date
    number: int = len(numbers)
reply = client.order(card="1", code="2")
count: int = reply.body.number
try:
    client.ping()
except shop.OutOfStockError as error:
    until: datetime.date | None = error.detail.until


async def main() -> None:
    party = await shop.AsyncShopClient("shop.wsdl").party(id=1)
    assert party is None or party.id
asyncio.run(main())

service = cast("shop_stub.ShopService", Client("shop.wsdl").service)
for each in service.find(symbol="A") or []:
    size: str = each.size
types = cast("shop_stub.ShopFactory", Client("shop.wsdl").type_factory("ns0"))
person = types.Person(id=1, Address=[types.Address(street="Here")])
street: str = person.Address[0].street
"""

WRONG = {
    "client.find(symbol=1)": "arg-type",
    "client.find()": "call-arg",
    "client.find(symbol='A', size=1)": "call-arg",
    "client.find(symbol='A', Size='tiny')": "arg-type",
    "shop.Person()": "call-arg",
    "shop.Person(id='x')": "arg-type",
    "reply.body.nothing": "attr-defined",
    "service.find(symbol=1)": "arg-type",
    "types.Person(id='x')": "arg-type",
}


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The result of mypy, which sees this package and the generated modules."""
    pytest.importorskip("mypy")
    package = Path(generated.__file__).parents[1]
    # An installed package is found without, and mypy does not want it twice.
    paths = [] if package.name == "site-packages" else [str(package)]
    paths.append(str(CODEGEN / "goldens/python"))
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    return subprocess.run(
        [*command, "--config-file=", *arguments],
        env={"MYPYPATH": ":".join(paths), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_generated_modules_are_typed(tmp_path: Path) -> None:
    files = [str(path) for path in (CODEGEN / "goldens/python").glob("*.py*")]
    checked = mypy("--cache-dir", str(tmp_path), *files)
    assert checked.returncode == 0, checked.stdout
    assert f"no issues found in {len(files)} source files" in checked.stdout


def test_type_checkers_know_operations_and_values(tmp_path: Path) -> None:
    use = tmp_path / "use.py"
    lines = [f"{line}  # {code}" for line, code in WRONG.items()]
    use.write_text(USE + "\n".join(lines) + "\n")
    checked = mypy("--cache-dir", str(tmp_path), str(use))
    first = USE.count("\n") + 1
    wrong = [line for line in checked.stdout.splitlines() if ": error: " in line]
    expected = dict(enumerate(WRONG.values(), first))
    found = {int(line.split(":")[1]): line.rsplit("[", 1)[1].rstrip("]") for line in wrong}
    assert found == expected, checked.stdout + checked.stderr
