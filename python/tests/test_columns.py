"""Lists of numbers and of flat structs: NumPy and Arrow, both ways."""

from __future__ import annotations

import datetime
import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any

import echo
import pytest

import deltasoap

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
