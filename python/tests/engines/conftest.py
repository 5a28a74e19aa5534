"""Messages in Parquet files, and what a single process makes of them."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import streams

import deltasoap.arrow

# Workers import the tests' modules.
os.environ["PYTHONPATH"] = str(Path(__file__).parent)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["PYSPARK_PYTHON"] = sys.executable

FILES, ROWS = 8, 60
"""Number of files, and of messages in each."""


class Source(NamedTuple):
    """Files of messages, and their rows as a single process decodes them."""

    folder: Path
    wsdl: str
    operation: str
    rows: list[dict[str, Any]]

    def tables(self) -> list[Any]:
        """The files, each as a table."""
        return [pq.read_table(path) for path in sorted(self.folder.glob("*.parquet"))]


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """Invoices, some of which cannot be decoded."""
    folder = tmp_path_factory.mktemp("messages")
    messages = streams.invoices(FILES * ROWS)
    messages[::37] = [message[: len(message) // 2] for message in messages[::37]]
    for place in range(FILES):
        rows = range(place * ROWS, (place + 1) * ROWS)
        table = pa.table({"id": list(rows), "body": [messages[row] for row in rows]})
        pq.write_table(table, folder / f"{place}.parquet")
    table = pa.table({"id": range(len(messages)), "body": messages})
    wsdl = str(streams.INVOICES)
    alone = pa.table(deltasoap.arrow.decode(table, wsdl, "Submit", keep=["id"]))
    assert 0 < alone["_error"].null_count < len(messages)
    return Source(folder, wsdl, "Submit", alone.to_pylist())


class KillOnce:
    """Kills the process that has decoded a row, if none was killed before."""

    def __init__(self, marker: Path, row: int = FILES * ROWS // 2) -> None:
        self.marker, self.row = str(marker), row

    def __call__(self, ids: list[int]) -> None:
        """Called with the rows that have been decoded."""
        if self.row in ids and not os.path.exists(self.marker):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def kill(tmp_path: Path) -> KillOnce:
    """A worker that dies."""
    return KillOnce(tmp_path / "killed")


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows in the order of their messages."""
    return sorted(rows, key=lambda row: row["id"])
