"""The notebook of measurements: that it runs, and that what is committed are its outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOK = EXAMPLES / "measurements.ipynb"


def load() -> Any:
    """The notebook as it is committed."""
    return nbformat.read(NOTEBOOK, as_version=4)


def execute(notebook: Any) -> None:
    """Run all cells where the notebook is, with small messages."""
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": EXAMPLES}}).execute()


def images(notebook: Any) -> int:
    """How many plots the outputs have."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure little."""
    monkeypatch.setenv("MEASURE_SIZES", "10 100")
    monkeypatch.setenv("MEASURE_SECONDS", "0.02")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def test_all_cells_run() -> None:
    notebook = load()
    execute(notebook)
    assert images(notebook) == 4


def test_a_cell_that_fails_is_an_error() -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell("1 / 0")]
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        execute(notebook)


def test_the_committed_outputs_are_complete() -> None:
    notebook = load()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert images(notebook) == 4
