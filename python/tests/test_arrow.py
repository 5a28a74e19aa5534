"""Columns of messages, decoded into columns of their values."""

from __future__ import annotations

import gzip
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest
import streams

import deltasoap
import deltasoap.arrow
from deltasoap.exceptions import XMLParseError

INVOICES = str(streams.INVOICES)
BROKEN = b"<a><b></a>"


def submitted(messages: Any, **options: Any) -> Any:
    batch = pa.record_batch({"body": pa.array(messages, options.pop("type", pa.binary()))})
    return pa.record_batch(deltasoap.arrow.decode(batch, INVOICES, "Submit", **options))


def assert_all_same(messages: list[bytes], table: Any) -> None:
    rows = table.drop_columns(["_error"]).to_pylist()
    assert table["_error"].null_count == len(rows) == len(messages)
    counts = [
        streams.assert_same(message, row) for message, row in zip(messages, rows, strict=True)
    ]
    assert sum(counts) > len(messages)


def test_invoices_have_the_values_that_lxml_finds() -> None:
    messages = streams.invoices(100)
    assert_all_same(messages, submitted(messages))


@pytest.mark.parametrize("direction", ["request", "response"])
def test_a_session_of_vsphere_has_the_values_that_lxml_finds(direction: str) -> None:
    messages = streams.vsphere(direction)
    assert len(messages) > 50
    batch = pa.record_batch({"body": messages})
    decoded = deltasoap.arrow.decode(batch, streams.VSPHERE, "Fetch", direction=direction)
    assert_all_same(messages, pa.record_batch(decoded))


def test_what_routers_send_has_the_values_that_lxml_finds() -> None:
    senders, messages = zip(*streams.informs(60), strict=True)
    batch = pa.record_batch({"host": list(senders), "body": list(messages)})
    for options in ({}, {"sender": "host"}):
        decoded = deltasoap.arrow.decode(batch, streams.TR069, "Inform", **options)
        assert_all_same(list(messages), pa.record_batch(decoded))


@pytest.mark.parametrize(
    "kind",
    [pa.binary(), pa.large_binary(), pa.binary_view(), pa.string(), pa.large_string()]
    + [pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_messages_are_texts_or_bytes(kind: Any) -> None:
    messages = streams.invoices(5)
    texts = [*(each.decode() for each in messages), None]
    given = pa.array(texts, pa.string()).cast(kind)
    table = pa.record_batch(
        deltasoap.arrow.decode(pa.record_batch({"body": given}), INVOICES, "Submit")
    )
    assert table.equals(submitted([*messages, None]))
    assert table["count"].null_count == table["_error"].null_count - 5 == 1


def test_texts_are_unicode_whatever_they_declare() -> None:
    message = streams.invoices(1)[0].decode().replace("<token>t0", "<token>ä€")
    for encoding in ("utf-16", "windows-1252", "utf-8"):
        declared = f'<?xml version="1.0" encoding="{encoding}"?>{message}'
        for kind in (pa.string(), pa.dictionary(pa.int32(), pa.string())):
            given = pa.array([declared]).cast(kind)
            table = pa.record_batch(deltasoap.arrow.decode(given, INVOICES, "Submit"))
            assert table["auth"][0]["token"].as_py() == "ä€"
        assert submitted([declared.encode(encoding)])["auth"][0]["token"].as_py() == "ä€"
    wrong = '<?xml version="1.0" encoding="utf-16"?>' + message.replace("<count>", "<count>x")
    error = submitted([wrong], type=pa.string())["_error"][0].as_py()
    assert wrong.encode()[error["offset"] :].startswith((b"x", b"<count>x"))


def test_nulls_are_rows_of_nulls_without_an_error() -> None:
    for kind in (pa.binary(), pa.null()):
        table = submitted([None, None], type=kind)
        assert table.num_rows == 2
        assert all(column.null_count == 2 for column in table.columns)


def test_input_is_whatever_has_the_interface_of_arrow() -> None:
    messages = streams.invoices(6)
    expected = pa.table(submitted(messages))
    column = pa.array(messages)
    for given in (
        column,
        pa.table({"body": column}),
        pa.table({"body": pa.chunked_array([messages[:2], messages[2:]])}),
        polars.DataFrame({"body": messages}),
        pa.RecordBatchReader.from_batches(
            pa.schema({"body": pa.binary()}),
            (pa.record_batch({"body": [message]}) for message in messages),
        ),
    ):
        decoded = deltasoap.arrow.decode(given, INVOICES, "Submit")
        assert pa.table(decoded).combine_chunks().equals(expected)
        assert decoded.num_rows == len(decoded) == 6


def test_other_libraries_read_the_result() -> None:
    decoded = deltasoap.arrow.decode(pa.array(streams.invoices(3)), INVOICES, "Submit")
    frame = polars.DataFrame(decoded)
    assert frame.columns == decoded.column_names == ["auth", "count", "invoice", "_error"]
    assert frame.explode("invoice").height == pa.table(decoded)["count"].to_numpy().sum()


def test_a_table_without_rows_has_the_same_columns() -> None:
    for given in (pa.array([], pa.binary()), pa.schema({"body": pa.binary()}).empty_table()):
        decoded = deltasoap.arrow.decode(given, INVOICES, "Submit")
        assert pa.table(decoded).num_rows == 0
        assert pa.schema(decoded) == pa.schema(deltasoap.arrow.schema(INVOICES, "Submit"))


def test_several_record_batches_are_no_array() -> None:
    table = pa.table({"body": pa.chunked_array([streams.invoices(1), streams.invoices(1)])})
    decoded = deltasoap.arrow.decode(table, INVOICES, "Submit")
    with pytest.raises(ValueError, match="2 record batches: read them as a table"):
        pa.record_batch(decoded)


def test_messages_that_cannot_be_decoded_are_rows_of_nulls() -> None:
    good = streams.invoices(2)
    wrong = good[0].replace(b"<count>", b"<count>x")
    ping = b"<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>%s</e:Body>"
    ping += b"</e:Envelope>"
    fault = b"<e:Fault><faultcode>e:Server</faultcode><faultstring>too late</faultstring></e:Fault>"
    messages = [good[0], wrong, BROKEN, b"", ping % b"<Ping xmlns='urn:invoices'/>", ping % fault]
    messages += [ping % b"<Else/>", gzip.compress(good[0])[:50], good[1]]
    table = submitted(messages)
    assert table.slice(0, 1).equals(submitted(good[:1]))
    assert table.slice(len(messages) - 1).equals(submitted(good[1:]))
    errors = table["_error"].to_pylist()
    assert errors[0] is None and errors[-1] is None
    assert table["auth"].null_count == table["count"].null_count == len(messages) - 2
    at = wrong.index(b"<count>x") + len(b"<count>")
    assert errors[1]["path"].endswith("count") and at <= errors[1]["offset"] <= at + 10
    assert "Envelope" in errors[2]["reason"] or "envelope" in errors[2]["reason"]
    reasons = [each["reason"] for each in errors[3:-1]]
    assert reasons[0] == "empty" and reasons[1] == "a request of Ping"
    assert "fault" in reasons[2] and "too late" in reasons[2]
    assert "Else" in reasons[3] and reasons[4].startswith("not valid gzip")


def test_errors_are_raised_on_request() -> None:
    good = streams.invoices(1)
    assert submitted(good, errors="raise").equals(submitted(good))
    with pytest.raises(XMLParseError, match="^row 1: "):
        submitted([*good, BROKEN], errors="raise")


def test_messages_are_read_as_archives_read_them() -> None:
    message = streams.invoices(1)[0]
    http = b"POST / HTTP/1.1\r\nContent-Type: text/xml\r\n\r\n" + message
    package = b"--b\r\nContent-Type: text/xml\r\n\r\n" + message + b"\r\n--b--\r\n"
    expected = submitted([message])
    for given in (http, package, gzip.compress(message), gzip.compress(http)):
        assert submitted([given]).equals(expected)


def test_large_messages_are_refused_before_and_after_decompression() -> None:
    message = streams.invoices(1)[0]
    assert submitted([message], limit_message=len(message))["_error"][0].as_py() is None
    for given in (message, gzip.compress(message)):
        error = submitted([given], limit_message=len(message) - 1)["_error"][0].as_py()
        assert f"more than {len(message) - 1} bytes" in error["reason"]


def test_columns_of_the_input_are_kept_on_request() -> None:
    messages = streams.invoices(4)
    table = pa.table(
        {"place": list("abcd"), "body": messages, "at": pa.array([1, None, 3, 4], pa.int8())}
    )
    decode = deltasoap.arrow.Decoder(INVOICES, "Submit", keep=["at", "place"])
    decoded = pa.table(decode(table))
    assert decoded.column_names == ["at", "place", "auth", "count", "invoice", "_error"]
    assert decoded["at"].to_pylist() == [1, None, 3, 4]
    assert decoded["place"].to_pylist() == list("abcd")
    assert decoded.schema == pa.schema(decode.schema(table.schema))
    assert decode.columns == ["body", "at", "place"]
    with pytest.raises(ValueError, match="needs the schema of the input"):
        decode.schema()
    with pytest.raises(ValueError, match="two columns of the result are called count"):
        deltasoap.arrow.Decoder(INVOICES, "Submit", keep=["count"])
    named = deltasoap.arrow.Decoder(INVOICES, "Submit", keep=["_error"], error_column="why")
    assert pa.schema(named.schema(pa.schema({"_error": pa.int8()}))).names[-1] == "why"


def test_what_is_missing_is_named() -> None:
    batch = pa.record_batch({"text": ["a"], "number": [1]})
    with pytest.raises(KeyError, match="no column body among text, number"):
        deltasoap.arrow.decode(batch, INVOICES, "Submit")
    with pytest.raises(TypeError, match="the column number is of the type Int64"):
        deltasoap.arrow.decode(batch, INVOICES, "Submit", column="number")
    with pytest.raises(TypeError, match="list is no table of Arrow"):
        deltasoap.arrow.decode([b"<a/>"], INVOICES, "Submit")
    with pytest.raises(KeyError, match="no operation Order .* there are Submit, Ping"):
        deltasoap.arrow.schema(INVOICES, "Order")
    with pytest.raises(KeyError, match="no operation Ping whose response"):
        deltasoap.arrow.schema(INVOICES, "Ping", "response")
    for option, wrong in (("direction", "both"), ("errors", "no"), ("tolerance", "none")):
        with pytest.raises(ValueError, match=wrong):
            deltasoap.arrow.Decoder(INVOICES, "Submit", **{option: wrong})


def test_a_wsdl_is_a_path_a_text_or_something_loaded(tmp_path: Path) -> None:
    text = streams.INVOICES.read_bytes()
    messages = streams.invoices(2)
    batch = pa.record_batch({"body": messages})
    client = deltasoap.Client(INVOICES)
    for wsdl in (streams.INVOICES, text, text.decode(), client, client.wsdl):
        decoded = deltasoap.arrow.decode(batch, wsdl, "Submit")
        assert pa.record_batch(decoded).equals(submitted(messages))
    copy = tmp_path / "copy.wsdl"
    copy.write_bytes(text)
    assert pa.schema(deltasoap.arrow.schema(copy, "Submit")).names[1] == "count"
    copy.write_bytes(text.replace(b'name="count"', b'name="number"'))
    assert pa.schema(deltasoap.arrow.schema(copy, "Submit")).names[1] == "number"


def test_a_contract_is_imported_once() -> None:
    first = deltasoap.arrow.Decoder(INVOICES, "Submit")
    again = deltasoap.arrow.Decoder(streams.INVOICES.read_bytes(), "Submit")
    assert first._engine is deltasoap.arrow.Decoder(INVOICES, "Submit")._engine
    found = deltasoap.arrow._contract.cache_info()
    assert found.maxsize is not None and found.currsize <= found.maxsize
    assert pa.schema(first.schema()) == pa.schema(again.schema())


def test_a_decoder_needs_no_file_in_another_process(tmp_path: Path) -> None:
    wsdl = tmp_path / "gone.wsdl"
    wsdl.write_bytes(streams.INVOICES.read_bytes())
    pickled = pickle.dumps(deltasoap.arrow.Decoder(wsdl, "Submit"))
    wsdl.unlink()
    messages = streams.invoices(3)
    program = (
        "import pickle, sys, pyarrow as pa\n"
        "decode, messages = pickle.load(sys.stdin.buffer)\n"
        "print(pa.record_batch(pickle.loads(decode)(pa.array(messages))).to_pylist())\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps((pickled, messages)),
        capture_output=True,
        check=True,
    )
    assert shown.stdout.decode().strip() == str(submitted(messages).to_pylist())


def test_senders_and_their_number_change_nothing() -> None:
    messages = streams.invoices(200)
    hosts = [f"host{number % 9}" for number in range(200)]
    batch = pa.record_batch({"body": messages, "host": hosts})
    expected = submitted(messages)
    for limits in ({}, {"limit_senders": 1}, {"limit_senders": 0}, {"limit_kept": 0}):
        for _ in range(2):
            decoded = deltasoap.arrow.decode(batch, INVOICES, "Submit", sender="host", **limits)
            assert pa.record_batch(decoded).equals(expected)


def test_threads_decode_at_the_same_time() -> None:
    decode = deltasoap.arrow.Decoder(INVOICES, "Submit")
    parts = [streams.invoices(40, seed) for seed in range(8)]
    expected = [submitted(part) for part in parts]
    found: list[list[Any]] = [[] for _ in parts]

    def work(place: int) -> None:
        for _ in range(5):
            found[place].append(pa.record_batch(decode(pa.array(parts[place]))))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place, of_place in enumerate(found):
        assert len(of_place) == 5 and all(each.equals(expected[place]) for each in of_place)


def test_damaged_messages_are_rows_whatever_they_hold() -> None:
    chosen = random.Random(5)
    good = streams.invoices(20)
    messages = []
    for _ in range(400):
        message = bytearray(chosen.choice(good))
        for _ in range(chosen.randrange(3)):
            message[chosen.randrange(len(message))] = chosen.randrange(256)
        cut = chosen.randrange(len(message)) if chosen.random() < 0.3 else len(message)
        messages.append(bytes(message[:cut]))
    table = submitted(messages)
    assert table.num_rows == len(messages)
    alone = [submitted([message], limit_senders=0) for message in messages]
    assert pa.Table.from_batches(alone).combine_chunks().equals(pa.table(table).combine_chunks())
    assert 0 < table["_error"].null_count < len(messages)


def test_plain_tables_have_keys_to_their_parents() -> None:
    messages = streams.invoices(20)
    table = pa.table({"body": [*messages, BROKEN], "at": range(21)})
    decoded = deltasoap.arrow.decode(table, INVOICES, "Submit", keep=["at"])
    tables = {name: pa.table(each) for name, each in decoded.flatten(first_id=100).items()}
    assert list(tables) == ["", "invoice", "invoice.taxes.tax"]
    main, invoice = tables[""], tables["invoice"]
    assert main.column_names == ["_id", "at", "auth.token", "auth.issuer", "count", "_error"]
    assert main["_id"].to_pylist() == list(range(100, 121))
    nested = pa.table(decoded)["invoice"].to_pylist()
    parents = [100 + row for row, items in enumerate(nested) for _ in items or ()]
    assert invoice["_parent"].to_pylist() == parents
    numbers = [item["number"] for items in nested for item in items or ()]
    assert invoice["number"].to_pylist() == numbers
    with pytest.raises(ValueError, match="plain already"):
        decoded.flatten()[""].flatten()


def test_pyarrow_is_not_needed() -> None:
    program = (
        "import sys\n"
        "sys.modules['pyarrow'] = None\n"
        "import polars, deltasoap.arrow\n"
        f"messages = {streams.invoices(2)!r}\n"
        f"decode = deltasoap.arrow.Decoder({INVOICES!r}, 'Submit')\n"
        "decoded = decode(polars.DataFrame({'body': messages}))\n"
        "print(polars.DataFrame(decoded)['count'].to_list())\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == str(submitted(streams.invoices(2))["count"].to_pylist())
