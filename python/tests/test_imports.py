"""What importing costs, and that zeep's names are all there."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import zeep

import deltasoap
import deltasoap.zeep

HEAVY = ("lxml", "requests", "httpx", "numpy", "pyarrow", "isodate", "asyncio")

HERE = Path(__file__).parent


def imported(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after a statement."""
    code = f"{statement}; import sys; print(*sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HERE
    )
    return set(shown.stdout.split())


def test_heavy_modules_are_imported_where_they_are_used() -> None:
    found = imported("import deltasoap; deltasoap.Client")
    assert not found.intersection(HEAVY)


def test_public_names_exist() -> None:
    for name in deltasoap.__all__:
        assert getattr(deltasoap, name) is not None
    assert set(deltasoap.__all__) <= set(dir(deltasoap))


def test_modules_that_zeep_has_as_attributes() -> None:
    code = "import zeep; print(*(name for name in dir(zeep)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = {name for name in shown.stdout.split() if isinstance(getattr(zeep, name), ModuleType)}
    assert {"exceptions", "xsd"} <= names
    assert not [name for name in names if not hasattr(deltasoap.zeep, name)]


def test_modules_of_zeep_can_be_imported() -> None:
    found = pkgutil.walk_packages(deltasoap.zeep.__path__, "deltasoap.zeep.")
    names = [each.name for each in found]
    assert "deltasoap.zeep.xsd.types.builtins" in names
    for name in names:
        module = importlib.import_module(name)
        for exported in getattr(module, "__all__", ()):
            assert hasattr(module, exported), f"{name}.{exported}"
