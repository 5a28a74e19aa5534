"""Runs zeep's own test suite over `deltasoap.zeep`, with only the imports changed.

    python tests/zeep_suite/run.py zeep-4.3.3 [arguments of pytest]

The folder is zeep's source archive, unpacked; `ZEEP_SOURCE` may name it instead. Its tests are
copied into a temporary folder with `zeep` replaced by `deltasoap.zeep` in imports. A test that
fails must stand in `known_failures.txt` with its reason, and what stands there must fail.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

KNOWN = Path(__file__).with_name("known_failures.txt")

#: What is changed in a test: imports of zeep, and its name in strings for `mock.patch`.
CHANGES = (
    (re.compile(r"^(\s*)from zeep(\.[\w.]+)? import ", re.M), r"\1from deltasoap.zeep\2 import "),
    (re.compile(r"^(\s*)import zeep$", re.M), r"\1import deltasoap.zeep as zeep"),
    (re.compile(r"(patch(?:\.object)?\(\s*[\"'])zeep\."), r"\1deltasoap.zeep."),
)

CONFIGURATION = """\
[pytest]
asyncio_mode = strict
markers =
    requests: talks to a mock of HTTP
    network: reads the clock
filterwarnings =
    ignore
"""


@dataclass(eq=False)
class Outcomes:
    """A plugin of pytest that remembers how each test ended."""

    results: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the worst outcome of the phases of a test."""
        is_news = report.when == "call" or report.outcome != "passed"
        if is_news and self.results.get(report.nodeid) != "failed":
            self.results[report.nodeid] = report.outcome

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported is a failure of its own."""
        if report.failed:
            self.results[report.nodeid] = "failed"


def main() -> int:
    """Run the suite and compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", default=os.environ.get("ZEEP_SOURCE"))
    parser.add_argument("--keep", help="copy the tests into this folder and leave them there")
    options, extra = parser.parse_known_args()
    if not options.source or not (Path(options.source) / "tests").is_dir():
        parser.error("name the folder of zeep's source archive, or set ZEEP_SOURCE")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(options.keep or folder)
        copy_tests(Path(options.source) / "tests", place)
        outcomes = run(place, extra)
    return compare(outcomes, is_whole=not extra)


def copy_tests(source: Path, place: Path) -> None:
    """Copy the tests and change their imports."""
    shutil.copytree(source, place / "tests", dirs_exist_ok=True)
    (place / "pytest.ini").write_text(CONFIGURATION)
    for path in (place / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for pattern, replacement in CHANGES:
            text = pattern.sub(replacement, text)
        # pytest removed this old name of `fixture`.
        path.write_text(text.replace("pytest.yield_fixture", "pytest.fixture"), encoding="utf-8")


def run(place: Path, extra: list[str]) -> dict[str, str]:
    """Run pytest on the copy; the outcomes by test."""
    plugin = Outcomes()
    before = os.getcwd()
    os.chdir(place)
    sys.path.insert(0, str(place))
    try:
        arguments = [
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
            "-q",
            "--rootdir",
            str(place),
            *extra,
        ]
        if not any(each.startswith("tests") for each in extra):
            arguments.append("tests")
        pytest.main(arguments, plugins=[plugin])
    finally:
        os.chdir(before)
    return plugin.results


def known_failures() -> dict[str, str]:
    """The tests that are expected to fail, with the reasons."""
    found = {}
    for line in KNOWN.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            test, _, reason = line.partition("  ")
            if not reason.strip():
                raise SystemExit(f"{KNOWN.name}: {test} has no reason")
            found[test] = reason.strip()
    return found


def compare(outcomes: dict[str, str], *, is_whole: bool) -> int:
    """Print the counts by file and what was not expected."""
    known = known_failures()
    failed = {test for test, outcome in outcomes.items() if outcome == "failed"}
    missing = sorted(set(known) - set(outcomes)) if is_whole else []
    surprises = [f"fails, and is not listed: {test}" for test in sorted(failed - set(known))]
    surprises += [
        f"passes, but is listed: {test}"
        for test in sorted(set(known) & set(outcomes) - failed)
        if outcomes[test] == "passed"
    ]
    surprises += [f"is listed, but was not found: {test}" for test in missing]
    _print_counts(outcomes, known)
    print("\n".join(surprises))
    return 1 if surprises or not outcomes else 0


def _print_counts(outcomes: dict[str, str], known: dict[str, str]) -> None:
    counts: dict[str, Counter[str]] = {}
    for test, outcome in outcomes.items():
        is_known = outcome == "failed" and test in known
        name = test.partition("::")[0].removeprefix("tests/")
        counts.setdefault(name, Counter())["listed" if is_known else outcome] += 1
    for name, by_outcome in sorted(counts.items()):
        shown = ", ".join(f"{count} {outcome}" for outcome, count in sorted(by_outcome.items()))
        print(f"{name:40} {shown}")
    total = Counter(outcomes.values())
    print(
        f"{total['passed']} passed, {total['failed']} failed ({len(known)} listed), "
        f"{total['skipped']} skipped"
    )


if __name__ == "__main__":
    sys.exit(main())
