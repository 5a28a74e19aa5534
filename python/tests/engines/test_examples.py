"""The examples, each with two workers: their rows are those of a single process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from conftest import Source, by_id

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("engine", ["ray", "dask", "spark"])
def test_an_example_has_the_rows_of_a_single_process(
    engine: str, source: Source, tmp_path: Path
) -> None:
    target = tmp_path / "decoded"
    program = str(EXAMPLES / f"on_{engine}.py")
    arguments = [source.wsdl, source.operation, str(source.folder), str(target)]
    subprocess.run([sys.executable, program, *arguments], check=True, timeout=1200)
    table = ds.dataset(target, format="parquet").to_table()
    assert by_id(table.to_pylist()) == source.rows
