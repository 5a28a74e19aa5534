"""The programs in READMEs and the guide, which run against services on this machine.

The programs of a page run in their order, with the names of those before them, as in a notebook.
Those marked `python,ignore` are only compiled.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import pytest
from echo import EchoHandler, addressed, echoed, serving

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python/examples"
DATA = ROOT / "python/tests/data"
GUIDE = ROOT / "docs/guide/src"
PAGES = [ROOT / "README.md", ROOT / "python/README.md", *sorted(GUIDE.glob("*.md"))]
FENCE = re.compile(r"^```python(,ignore)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_ENVELOPE = (
    b'<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>%s</e:Body>'
    b"</e:Envelope>"
)
_QUOTE = b'<GetQuoteResponse xmlns="urn:quotes"><price>42.5</price></GetQuoteResponse>'
_UNKNOWN = (
    b"<e:Fault><faultcode>e:Client</faultcode><faultstring>no such symbol</faultstring><detail>"
    b'<UnknownSymbol xmlns="urn:quotes"><symbol>NONE</symbol></UnknownSymbol></detail></e:Fault>'
)
_MULTIPART = 'multipart/related; boundary=part; type="text/xml"; start="<root>"'
_PACKAGE = (
    b"--part\r\nContent-Type: text/xml\r\nContent-ID: <root>\r\n\r\n%s\r\n"
    b"--part\r\nContent-Type: image/png\r\nContent-ID: <chart>\r\n\r\nPNG\r\n--part--\r\n"
)


class Program(NamedTuple):
    """A block of code of a page."""

    line: int
    text: str
    is_run: bool


class Handler(EchoHandler):
    """The service of the echo, and that of quotes."""

    def do_POST(self) -> None:
        """Answer a request for a quote, or send the request back."""
        request = self.body()
        quote = _ENVELOPE % _QUOTE
        if b"GetQuote" not in request:
            self.send(200, echoed(request))
        elif b">ACME<" in request:
            self.send(200, quote)
        elif b">CHART<" in request:
            self.send(200, _PACKAGE % quote, _MULTIPART)
        else:
            self.send(500, _ENVELOPE % _UNKNOWN)


def programs(page: Path) -> list[Program]:
    """The blocks of Python of a page."""
    text = page.read_text(encoding="utf-8")
    found = FENCE.finditer(text)
    lines = ((text.count("\n", 0, each.start(2)) + 1, each) for each in found)
    return [Program(line, each[2], not each[1]) for line, each in lines]


def compiled(page: Path, program: Program, address: str) -> CodeType:
    """A block with the service's address; errors in it name the page and its line."""
    text = program.text.replace("http://127.0.0.1:8080/", address)
    return compile("\n" * (program.line - 1) + text, str(page), "exec", dont_inherit=True)


def run(page: Path, address: str) -> None:
    """Run the programs of a page."""
    module = ModuleType("guide")
    # Dataclasses look their module up here.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        for program in programs(page):
            code = compiled(page, program, address)
            if program.is_run:
                exec(code, vars(module))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the services are."""
    with serving(Handler) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> Path:
    """The folder in which programs run: it has the files that they name."""
    port = address.rpartition(":")[2].strip("/")
    for wsdl in (GUIDE / "quotes.wsdl", EXAMPLES / "echo.wsdl", DATA / "hello.wsdl"):
        (tmp_path / wsdl.name).write_bytes(addressed(wsdl, port))
    for name in ("key.pem", "cert.pem"):
        shutil.copy(ROOT / "testdata/security" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if programs(page)],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_programs_of_a_page_run(page: Path, folder: Path, address: str) -> None:
    run(page, address)


def test_pages_with_programs_are_found() -> None:
    found = {page.name for page in PAGES if any(each.is_run for each in programs(page))}
    assert {"README.md", "python.md", "numpy-and-arrow.md", "migrating-from-zeep.md"} <= found
    assert programs(ROOT / "README.md")


def test_an_error_names_the_line_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    blocks = ["python\nx = 1\n", "python,ignore\nfail()\n", "python\nx / 0\n"]
    page.write_text("\n".join(f"```{block}```\n" for block in blocks))
    with pytest.raises(ZeroDivisionError) as raised:
        run(page, "")
    assert raised.traceback[-1].lineno + 1 == 10
    assert Path(raised.traceback[-1].path) == page


def test_programs_that_are_not_run_are_compiled(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python,ignore\nx = (\n```\n")
    with pytest.raises(SyntaxError):
        run(page, "")
