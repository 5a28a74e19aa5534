"""The programs of the guide for the engines, which `tests/test_guide.py` only compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

GUIDE = Path(__file__).parents[3] / "docs/guide/src"
FENCE = re.compile(r"^```python,ignore\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = FENCE.findall((GUIDE / "archives.md").read_text(encoding="utf-8"))
ENVELOPE = (
    '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>'
    '<GetQuote xmlns="urn:quotes"><symbol>{}</symbol></GetQuote></e:Body></e:Envelope>'
)


def test_each_engine_has_a_program() -> None:
    imported = [re.search(r"from deltasoap\.arrow\.(\w+)", program)[1] for program in PROGRAMS]
    assert imported == ["ray", "dask", "spark"]


@pytest.mark.parametrize("program", PROGRAMS, ids=["ray", "dask", "spark"])
def test_a_program_writes_all_rows(program: str, tmp_path: Path) -> None:
    shutil.copy(GUIDE / "quotes.wsdl", tmp_path)
    (tmp_path / "messages").mkdir()
    for part in range(3):
        ids = list(range(part * 10, part * 10 + 10))
        bodies = [ENVELOPE.format(f"S{number}") if number % 7 else "<oh" for number in ids]
        table = pa.table({"id": ids, "body": bodies})
        pq.write_table(table, tmp_path / f"messages/{part}.parquet")
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, timeout=1200)
    rows = ds.dataset(tmp_path / "quotes", format="parquet").to_table().sort_by("id")
    assert rows["id"].to_pylist() == list(range(30))
    expected = [f"S{number}" if number % 7 else None for number in range(30)]
    assert rows["symbol"].to_pylist() == expected
    assert [error is not None for error in rows["_error"].to_pylist()] == [
        symbol is None for symbol in expected
    ]
