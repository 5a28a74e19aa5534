"""The package without anything else installed: no lxml, no NumPy, no requests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import echo

PROGRAM = """
import sys


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"lxml", "numpy", "pyarrow", "requests", "httpx", "isodate"}:
            raise ImportError(name)


sys.meta_path.insert(0, Missing())
import deltasoap

client = deltasoap.Client(sys.argv[1])
assert client.service.echoDoubles([1.0, 2.5]) == [1.0, 2.5]
trade = {"id": 1, "price": 2.0, "symbol": "s", "at": "2026-01-01T00:00:00Z"}
rows = client.service.echoAll(trade=[trade], nils=[1, None])
assert rows.trade[0].symbol == "s" and rows.nils == [1, None]
"""


def test_a_client_needs_no_other_package() -> None:
    with echo.service() as url:
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, url],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
        )
    assert run.returncode == 0, run.stderr


def test_importing_the_package_imports_no_other() -> None:
    program = "import sys, deltasoap; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert not loaded & {"lxml", "numpy", "requests", "httpx", "asyncio", "urllib"}
