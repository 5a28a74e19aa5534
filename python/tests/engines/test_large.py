"""Columns of more than 2 GiB, which a record batch of Arrow cannot have."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import streams

import deltasoap.arrow

TOKEN = 60 << 20
"""Bytes of a text."""


def test_rows_go_on_in_another_record_batch() -> None:
    message = streams.invoices(1)[0].replace(b"<token>t0", b"<token>" + b"t" * TOKEN)
    rows = (2 << 30) // TOKEN + 4
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), pa.array([message]))
    batch = pa.record_batch({"id": range(rows), "body": column})
    decoded = deltasoap.arrow.decode(batch, streams.INVOICES, "Submit", keep=["id"])
    table = pa.table(decoded)
    assert table["id"].to_pylist() == list(range(rows))
    assert table["_error"].null_count == rows
    first, second = table["auth"].chunks
    assert len(first) == (2 << 30) // TOKEN and len(second) == rows - len(first)
    for chunk in (first, second):
        assert set(pc.binary_length(chunk.field("token")).to_pylist()) == {TOKEN}
