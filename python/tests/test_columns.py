"""Lists of numbers and of flat structs: NumPy and Arrow, both ways."""

from __future__ import annotations

import copy
import datetime
import gc
import json
import pickle
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import echo
import pytest

import deltasoap
from deltasoap import zeep
from deltasoap.helpers import serialize_object
from deltasoap.plugins import HistoryPlugin
from deltasoap.wsse import UsernameToken

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

ROWS = [
    {"id": 1, "price": 2.5, "symbol": "A", "at": datetime.datetime(2026, 1, 2, 3, 4, 5, 500000)},
    {"id": 2, "price": -0.0, "symbol": "ä<", "at": datetime.datetime(1969, 12, 31)},
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with echo.service() as url:
        yield deltasoap.Client(url)


def everything(client: Any, **values: Any) -> Any:
    return client.service.echoAll(**values)


def test_numbers_are_arrays_that_can_only_be_read(client: Any) -> None:
    sent = np.random.default_rng(1).random(1000)
    received = client.service.echoDoubles(sent)
    assert received.dtype == np.float64
    assert (received == sent).all()
    assert not received.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        received[0] = 1


def test_the_empty_list_is_an_array_too(client: Any) -> None:
    assert client.service.echoDoubles([]).shape == (0,)
    assert client.service.echoDoubles(np.array([])).shape == (0,)


def test_lists_and_arrays_are_the_same_arguments(client: Any) -> None:
    for items in ([1, 2.5, 3], (1, 2.5, 3), np.array([1, 2.5, 3]), np.array([1, 2.5, 3], "f4")):
        assert client.service.echoDoubles(items).tolist() == [1, 2.5, 3]
    assert client.service.echoDoubles(np.arange(10)[::3]).tolist() == [0, 3, 6, 9]


def test_a_view_stays_valid_while_other_responses_arrive(client: Any) -> None:
    views = [client.service.echoDoubles(np.full(500, number)) for number in range(20)]
    gc.collect()
    for number, view in enumerate(views):
        assert (view == number).all()


def test_equal_messages_are_skipped() -> None:
    sent = np.random.default_rng(2).random(2000)
    with echo.service() as url:
        client = deltasoap.Client(url)
        for _ in range(10):
            client.service.echoDoubles(sent)
        stats = client.stats
    assert stats["requests"] == stats["responses"] == 10
    assert stats["request_bytes_written"] < 0.3 * stats["request_bytes"]
    assert stats["response_bytes_skipped"] > stats["response_bytes_read"]


def test_structs_are_rows(client: Any) -> None:
    rows = everything(client, trade=ROWS)["trade"]
    assert len(rows) == 2
    assert rows.keys() == ["id", "price", "symbol", "at"]
    assert rows[1].symbol == "ä<"
    assert rows[-1].at == ROWS[1]["at"]
    assert [row.id for row in rows] == [1, 2]
    assert rows["price"].tolist() == [2.5, -0.0]
    assert rows["at"].dtype == np.dtype("datetime64[us]")
    assert rows["at"][0] == np.datetime64("2026-01-02T03:04:05.500000")
    assert list(rows["symbol"]) == ["A", "ä<"]
    with pytest.raises(KeyError):
        rows["nothing"]
    with pytest.raises(IndexError):
        rows[2]


def test_rows_go_to_arrow_pandas_and_polars(client: Any) -> None:
    rows = everything(client, trade=ROWS)["trade"]
    batch = pa.record_batch(rows)
    assert batch.schema.names == ["id", "price", "symbol", "at"]
    assert batch.to_pylist() == ROWS
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(rows).to_dicts() == ROWS
    assert pa.table(rows).to_pylist() == ROWS
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(rows.to_numpy())["symbol"].tolist() == ["A", "ä<"]


@pytest.mark.parametrize("kind", ["rows", "arrow", "table", "numpy", "pandas", "polars"])
def test_tables_are_arguments(client: Any, kind: str) -> None:
    rows = everything(client, trade=ROWS)["trade"]
    given: Any = rows
    if kind == "arrow":
        given = pa.record_batch(rows)
    elif kind == "table":
        given = pa.table(rows)
    elif kind == "numpy":
        given = rows.to_numpy()
    elif kind == "pandas":
        given = pytest.importorskip("pandas").DataFrame(rows.to_numpy())
    elif kind == "polars":
        given = pytest.importorskip("polars").DataFrame(rows)
    assert everything(client, trade=given)["trade"] == rows


def test_structs_with_optional_values_have_masks(client: Any) -> None:
    loose = [{"id": 1, "note": "n", "kind": "k"}, {"id": 2}]
    rows = everything(client, loose=loose)["loose"]
    assert pa.record_batch(rows).to_pylist() == [
        {"id": 1, "note": "n", "kind": "k"},
        {"id": 2, "note": None, "kind": None},
    ]
    assert rows[1].note is None


def test_nil_items_are_masked(client: Any) -> None:
    received = everything(client, nils=[1, None, 3])["nils"]
    assert isinstance(received, np.ma.MaskedArray)
    assert received.mask.tolist() == [False, True, False]
    assert received.compressed().tolist() == [1, 3]
    assert everything(client, nils=received)["nils"].tolist() == [1, None, 3]
    assert everything(client, nils=np.array([4, 5], "i8"))["nils"].tolist() == [4, 5]


def test_moments_and_booleans(client: Any) -> None:
    when = np.array(["2026-01-01T00:00", "0001-01-01", "9999-12-31T23:59:59"], "datetime64[s]")
    received = everything(client, when=when, flag=np.array([True, False]))
    assert (received["when"] == when).all()
    assert received["flag"].tolist() == [True, False]


def test_moments_with_a_zone_are_in_utc(client: Any) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    received = everything(client, when=[datetime.datetime(2026, 1, 1, 1, 30, tzinfo=zone)])["when"]
    assert received[0] == np.datetime64("2025-12-31T23:30")


def test_a_zone_of_arrow_is_kept(client: Any) -> None:
    at = pa.array([datetime.datetime(2026, 1, 1)], pa.timestamp("us", "Europe/Berlin"))
    trade = {"id": [1], "price": [1.0], "symbol": ["A"], "at": at}
    rows = everything(client, trade=pa.table(trade))["trade"]
    assert rows[0].at == at[0].as_py()
    assert rows[0].at.tzinfo is not None


def test_integers_of_another_size_are_converted(client: Any) -> None:
    for kind in ("i1", "u2", "i8", "u8"):
        assert everything(client, nils=np.array([4, 5], kind))["nils"].tolist() == [4, 5]
    with pytest.raises(deltasoap.exceptions.ValidationError, match="float64 do not fit into int32"):
        everything(client, nils=np.array([1.5]))


def test_numbers_that_do_not_fit_are_errors(client: Any) -> None:
    with pytest.raises(deltasoap.exceptions.ValidationError, match=r"fit into int32 \(nils\)"):
        everything(client, nils=np.array([2**40]))
    with pytest.raises(deltasoap.exceptions.ValidationError, match=r"item\[0\]"):
        client.service.echoDoubles(np.array([1 + 2j]))
    with pytest.raises(deltasoap.exceptions.ValidationError, match='no column "other"'):
        everything(client, trade=pa.table({"other": [1]}))
    with pytest.raises(deltasoap.exceptions.ValidationError, match="Missing element price"):
        everything(client, trade=pa.table({"id": pa.array([1], pa.int32())}))


def test_no_object_for_each_item(client: Any) -> None:
    sent = np.random.default_rng(3).random(50_000)
    client.service.echoDoubles(sent)
    ours = [
        tracemalloc.Filter(True, f"*{each}*") for each in ("deltasoap", "test_columns", "numpy")
    ]
    tracemalloc.start()
    try:
        received = client.service.echoDoubles(sent)
        snapshot = tracemalloc.take_snapshot().filter_traces(ours)
    finally:
        tracemalloc.stop()
    assert len(received) == 50_000
    assert sum(each.count for each in snapshot.statistics("filename")) < 500


def test_lists_without_columns() -> None:
    with echo.service() as url:
        client = deltasoap.Client(url, columns=False)
        assert client.service.echoDoubles([1.5]) == [1.5]
        assert client.service.echoAll(trade=ROWS)["trade"][0].symbol == "A"


ARRAYS = Path(__file__).with_name("data") / "arrays.wsdl"


@pytest.fixture(scope="module")
def arrays() -> Iterator[str]:
    service = deltasoap.Service(ARRAYS)

    @service.operation
    def echo(levels: Any, grid: Any, any: Any) -> Any:
        return {"levels": any if levels is None else levels, "grid": grid}

    with service.run_in_thread() as url:
        yield url


def arrays_of(url: str, **options: Any) -> Any:
    return deltasoap.Client(str(ARRAYS), **options).create_service("{urn:arrays}Arrays", url)


def test_arrays_of_soap_encoding_are_arrays(arrays: str) -> None:
    service = arrays_of(arrays)
    received = service.echo(levels=[1.5, None, 2.5], grid=[[1, 2], [3, 4]])
    assert isinstance(received["levels"], np.ma.MaskedArray)
    assert received["levels"].tolist() == [1.5, None, 2.5]
    assert [each.tolist() for each in received["grid"]] == [[1, 2], [3, 4]]
    full = service.echo(levels=np.array([1.5, 2.5]))["levels"]
    assert isinstance(full, np.ndarray) and not isinstance(full, np.ma.MaskedArray)
    assert full.dtype == np.float64 and not full.flags.writeable
    assert type(full[1]) is np.float64 and (full * 2).tolist() == [3, 5]


def test_arrays_of_soap_encoding_can_be_sent_back(arrays: str) -> None:
    service = arrays_of(arrays)
    for items in ([1.5, None], [1.5, 2.5], []):
        received = service.echo(levels=items)["levels"]
        assert service.echo(levels=received)["levels"].tolist() == items
        # They know their type where any is allowed.
        assert service.echo(any=received)["levels"].tolist() == items
        assert received.as_value_object()._value_1 == items
        for copied in (copy.copy(received), copy.deepcopy(received)):
            assert copied.tolist() == items
        pickled = pickle.loads(pickle.dumps(received))
        assert type(pickled) in (np.ndarray, np.ma.MaskedArray) and pickled.tolist() == items


def test_arrays_of_soap_encoding_without_columns(arrays: str) -> None:
    received = arrays_of(arrays, columns=False).echo(levels=[1.5, None], grid=[[1]])
    assert received["levels"] == [1.5, None] and received["grid"] == [[1]]


def test_values_with_arrays_are_compared_as_wholes(client: Any) -> None:
    def received(nils: Any, *moments: str) -> Any:
        return everything(client, nils=nils, when=list(moments), name=["a"])

    moments = ("2026-01-01T00:00:00", "2026-01-02T00:00:00")
    one = received([1, None, 3], *moments)
    assert one == received([1, None, 3], *moments)
    for other in (received([1, 2, 3], *moments), received([1, None], *moments)):
        assert one != other
    assert one != received([1, None, 3], *reversed(moments))
    assert one != received([1, None, 3])
    nothing = copy.copy(one)
    nothing.nils = None
    assert one != nothing and nothing != one


def test_strings_are_a_sequence(client: Any) -> None:
    names = everything(client, name=["b", "a", "b"])["name"]
    assert names == ["b", "a", "b"] and names != ["b"] and ["b", "a", "b"] == names
    assert names == everything(client, name=["b", "a", "b"])["name"]
    assert names.index("b", 1) == 2 and names.count("b") == 2 and "a" in names
    assert isinstance(names, Sequence) and list(reversed(names)) == ["b", "a", "b"]
    with pytest.raises(ValueError, match="not in list"):
        names.index("c")
    value = serialize_object(everything(client, name=["a"], trade=ROWS[:1]))
    assert json.dumps(value["name"]) == '["a"]'
    assert value["trade"] == ROWS[:1] and type(value["trade"][0]) is dict


def test_rows_find_and_count_items(client: Any) -> None:
    rows = everything(client, trade=ROWS)["trade"]
    assert rows.index(rows[1]) == 1 and rows.count(rows[0]) == 1


def test_copies_of_columns_are_lists(client: Any) -> None:
    received = everything(client, name=["a", "b"], trade=ROWS)
    for copied in (copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))):
        assert type(copied(received["name"])) is list and copied(received["name"]) == ["a", "b"]
        rows = copied(received["trade"])
        assert type(rows) is list and [each.symbol for each in rows] == ["A", "ä<"]
        assert everything(client, trade=copied(received).trade)["trade"] == received["trade"]


def test_tables_are_arguments_of_messages_of_lxml(client: Any) -> None:
    rows = everything(client, trade=ROWS)["trade"]
    history = HistoryPlugin()
    address = client.service._binding_options["address"]
    zeeps = zeep.Client(client.wsdl.location).create_service("{urn:echo}Echo", address)
    plugged = deltasoap.Client(client.wsdl.location, plugins=[history], wsse=UsernameToken("u"))
    for given in (rows, rows.to_numpy(), pa.record_batch(rows), pa.table(rows)):
        message = client.create_message(client.service, "echoAll", trade=given)
        written = message.findall(".//{urn:echo}symbol")
        assert [each.text for each in written] == ["A", "ä<"]
        assert [each.id for each in zeeps.echoAll(trade=given)["trade"]] == [1, 2]
        assert [each.id for each in plugged.service.echoAll(trade=given)["trade"]] == [1, 2]
        made = client.get_element("{urn:echo}echoAll")(trade=given)
        assert made.trade is given
