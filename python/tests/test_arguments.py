"""Arrays, series and tables of other libraries as arguments: nothing gets lost on the way."""

from __future__ import annotations

import collections
import datetime
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deltasoap
from deltasoap.exceptions import ValidationError

ZONE = datetime.timezone(datetime.timedelta(hours=2))
NOON = datetime.datetime(2026, 7, 1, 12, tzinfo=ZONE)


@dataclass
class Row:
    """A struct that no column of the engine holds, since a part may be absent."""

    id: int
    price: float | None = None
    note: str | None = None


@dataclass
class Filter:
    """A struct that may be empty."""

    low: int | None = None


service = deltasoap.Service(name="Arguments", namespace="urn:arguments")
seen: dict[str, Any] = {}


@service.operation
def rows(row: list[Row]) -> list[Row]:
    """Return what came."""
    return row


@service.operation
def lists(
    flag: list[bool],
    text: list[str],
    number: list[float],
    small: list[Annotated[float, "xsd:float"]],
    moment: list[datetime.datetime],
    day: list[datetime.date],
    amount: list[Decimal],
) -> None:
    """Note what came."""
    seen.update(locals())


@service.operation
def nils(number: list[float | None]) -> list[float | None]:
    """Return what came."""
    return number


@service.operation
def find(filter: Filter, all: list[Filter]) -> int:
    """Note what came."""
    seen.update(filter=filter, all=all)
    return len(all)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with service.run_in_thread() as url:
        yield deltasoap.Client(url + "?wsdl")


def received(client: Any, **values: Any) -> dict[str, Any]:
    names = ("flag", "text", "number", "small", "moment", "day", "amount")
    seen.clear()
    client.service.lists(**{name: values.get(name, []) for name in names})
    return seen


TABLE = {"id": [1, 2], "price": [1.5, None], "note": [None, "b"]}


@pytest.mark.parametrize(
    "table",
    [
        pa.table(TABLE),
        pa.record_batch(TABLE),
        pl.DataFrame(TABLE),
        pd.DataFrame(TABLE).convert_dtypes(),
        [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)],
        [collections.UserDict(id=1, price=1.5), collections.ChainMap({"id": 2}, {"note": "b"})],
    ],
    ids=["arrow", "batch", "polars", "pandas", "dicts", "mappings"],
)
def test_tables_of_structs_with_optional_parts(client: Any, table: Any) -> None:
    found = [(row.id, row.price, row.note) for row in client.service.rows(table)]
    assert found == [(1, 1.5, None), (2, None, "b")]


def test_structured_arrays_and_masks_of_them(client: Any) -> None:
    array = np.ma.array(
        [(1, 1.5), (2, 2.5)],
        mask=[(False, False), (False, True)],
        dtype=[("id", "i4"), ("price", "f8")],
    )
    assert [row.price for row in client.service.rows(array)] == [1.5, None]
    assert [row.price for row in client.service.rows(array.data)] == [1.5, 2.5]


def test_rows_that_came_go_back(client: Any) -> None:
    came = client.service.rows(pa.table(TABLE))
    assert [row.note for row in client.service.rows(came)] == [None, "b"]


def test_an_object_without_the_parts_is_refused(client: Any) -> None:
    class Other:
        def __init__(self) -> None:
            self.name = "x"

    with pytest.raises(ValidationError, match=r"Other has none of id, price, note \(row\[0\]\)"):
        client.service.rows([Other()])
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        client.service.rows(pa.table({"other": [1]}))


@pytest.mark.parametrize(
    "make", [pa.array, pl.Series, pd.array, pd.Series], ids=lambda it: it.__module__
)
def test_nulls_are_nil_or_refused(client: Any, make: Any) -> None:
    nullable = (
        make([1.0, None], dtype="Float64") if make in (pd.array, pd.Series) else make([1.0, None])
    )
    found = client.service.nils(nullable)
    assert found[0] == 1.0
    assert np.ma.getmaskarray(found).tolist() == [False, True]
    with pytest.raises(ValidationError, match=r"Value is required \(number\[1\]\)"):
        received(client, number=nullable)
    with pytest.raises(ValidationError, match=r"Value is required \(flag\[1\]\)"):
        received(client, flag=make([True, None]))
    with pytest.raises(ValidationError, match=r"Value is required \(text\[1\]\)"):
        received(client, text=make(["a", None]))


def test_texts_of_other_libraries(client: Any) -> None:
    for texts in (
        pa.array(["a", ""]),
        pl.Series(["a", ""]),
        pd.Series(["a", ""]),
        np.array(["a", ""]),
    ):
        assert received(client, text=texts)["text"] == ["a", ""]


@pytest.mark.parametrize("make", [pa.array, pl.Series, pd.Series, list], ids=str)
def test_zones_are_kept(client: Any, make: Any) -> None:
    found = received(client, moment=make([NOON]))["moment"][0]
    assert found == NOON
    assert found.tzinfo is not None


def test_no_number_becomes_another(client: Any) -> None:
    for number in (np.array([1e300]), [1e300], [10**400]):
        with pytest.raises(ValidationError, match="small"):
            received(client, small=number)
    with pytest.raises(ValidationError, match=r"too large\) \(number"):
        received(client, number=[10**400])
    infinite = received(client, small=np.array([np.inf, 0.1]))["small"]
    assert infinite[0] == float("inf")
    assert infinite[1] == pytest.approx(0.1)


def test_not_a_time_is_nil_or_refused(client: Any) -> None:
    with pytest.raises(ValidationError, match=r"Value is required \(moment\[1\]\)"):
        received(client, moment=np.array(["2026-01-01", "NaT"], "datetime64[ns]"))
    frame = pd.DataFrame({"id": [1], "price": [float("nan")]})
    assert np.isnan(client.service.rows(frame)[0].price)


def test_scalars_and_days_of_numpy(client: Any) -> None:
    days = np.array(["2026-01-02"], "datetime64[D]")
    assert received(client, day=days)["day"] == [datetime.date(2026, 1, 2)]
    assert received(client, day=[days[0]])["day"] == [datetime.date(2026, 1, 2)]
    moments = np.array(["2026-01-02T03:04:05.123456789"], "datetime64[ns]")
    expected = datetime.datetime(2026, 1, 2, 3, 4, 5, 123456)
    assert received(client, moment=[moments[0]])["moment"] == [expected]
    assert received(client, amount=np.array([0.1, 2]))["amount"] == [Decimal("0.1"), Decimal(2)]
    with pytest.raises(ValidationError, match="amount"):
        received(client, amount=[float("nan")])
    with pytest.raises(ValidationError, match="text"):
        received(client, text=["\ud800"])


def test_an_item_that_must_not_be_nil_is_refused(client: Any) -> None:
    for items in ([1.0, None], np.ma.array([1.0, 2.0], mask=[False, True])):
        with pytest.raises(ValidationError, match=r"Value is required \(number\[1\]\)"):
            received(client, number=items)


def test_a_struct_without_parts_is_no_none(client: Any) -> None:
    assert client.service.find(filter={}, all=[{}, {"low": 1}, {}]) == 3
    assert seen["filter"] == Filter()
    assert seen["all"] == [Filter(), Filter(1), Filter()]


def living() -> list[Any]:
    """The clients and services that are still there, with what belongs to them."""
    gc.collect()
    kinds = ("Client", "Document", "Views", "Service", "Interface")
    return [each for each in gc.get_objects() if type(each).__name__ in kinds]


def test_clients_and_services_are_collected() -> None:
    # Those of earlier tests may wait for a connection to end. Kept, so that no id is used again.
    earlier = {id(each): each for each in living()}
    for _ in range(5):
        other = deltasoap.Service(name="Other", namespace="urn:other")
        other.operation("find")(find)
        with other.run_in_thread() as url:
            made = deltasoap.Client(url + "?wsdl")
            assert made.service.find(filter={}, all=[]) == 0
        assert len(living()) >= len(earlier) + 5
        del made, other
    assert [each for each in living() if id(each) not in earlier] == []
