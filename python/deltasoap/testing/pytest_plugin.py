"""The fixtures of pytest: `soap_mock` and `soap_cassette`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from deltasoap.testing import Cassette, Mock


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that says when answers are recorded."""
    parser.getgroup("deltasoap").addoption(
        "--soap-record",
        choices=("once", "none", "new", "all"),
        help="the mode of soap_cassette: record if there is no file (once, the default), never, "
        "what is new, or everything anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        'soap_cassette(name=None, mode="once", secrets=("password",)): the file and the mode of '
        "the fixture soap_cassette",
    )


@pytest.fixture
def soap_mock(request: pytest.FixtureRequest) -> Iterator[Callable[..., Mock]]:
    """Start mocks: `soap_mock("shop.wsdl")`, with a path as seen from the test, or a URL."""
    from deltasoap.testing import Mock

    with ExitStack() as stack:

        def start(wsdl: str | os.PathLike[str], *, port: int = 0) -> Mock:
            beside = request.path.parent / wsdl
            found = beside if beside.is_file() else wsdl
            return stack.enter_context(Mock(found, port=port))

        yield start


@pytest.fixture
def soap_cassette(request: pytest.FixtureRequest) -> Cassette:
    """The recorded answers of a test: `soap_cassette.attach(client)`.

    The file is `cassettes/<module>/<test>.json` beside the test, unless the marker `soap_cassette`
    names another one.
    """
    from deltasoap.testing import Cassette

    marker = request.node.get_closest_marker("soap_cassette")
    options = dict(marker.kwargs) if marker is not None else {}
    name = marker.args[0] if marker is not None and marker.args else options.pop("name", None)
    mode = request.config.getoption("--soap-record") or options.pop("mode", "once")
    options.pop("mode", None)
    path = request.path.parent / (name or _default(request))
    return Cassette(path, mode, **options)


def _default(request: pytest.FixtureRequest) -> Path:
    test = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    return Path("cassettes", request.path.stem, f"{test}.json")
