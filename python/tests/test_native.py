"""The engine in a process of Python: threads, signals, memory, logs, forks."""

from __future__ import annotations

import gc
import io
import logging
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import network
import pytest

import deltasoap
from deltasoap import _exchanges, exceptions
from deltasoap.http import HttpResponse, HttpTransport
from deltasoap.plugins import HistoryPlugin
from deltasoap.testing import Mock
from deltasoap.transports import Transport

#: Number of calls in the test of memory; `.ci/full` makes ten times as many.
CALLS = int(os.environ.get("DELTASOAP_TEST_CALLS", "10000"))


@pytest.fixture
def mock() -> Iterator[Mock]:
    with Mock(network.WSDL) as started:
        yield started


def run(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program; its first line of output means that it is ready."""
    pipe = subprocess.PIPE
    program = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.Popen(program, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("kind", ["engine", "envelope"])
def test_an_interrupt_ends_a_call_that_waits(kind: str) -> None:
    code = """
        import sys, time
        import deltasoap
        from deltasoap import plugins
        history = [plugins.HistoryPlugin()] if sys.argv[3] == "envelope" else []
        client = deltasoap.Client(sys.argv[1], plugins=history)
        service = client.create_service("{urn:shop}Shop11", sys.argv[2])
        print("ready", flush=True)
        start = time.monotonic()
        try:
            service.Catalogue()
        except KeyboardInterrupt:
            print(f"{time.monotonic() - start:.3f}")
    """
    with network.silence() as url, run(code, str(network.WSDL), url, kind) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        shown, errors = program.communicate(timeout=20)
    assert program.returncode == 0, errors
    assert 0.1 < float(shown) < 5


def test_other_threads_run_during_a_call(mock: Mock) -> None:
    mock.delay = 0.5
    client = mock.client()
    counted = 0
    is_done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    with network.server() as server:
        # The server answers in this process, which needs the GIL, too.
        server.delay = 0.5
        thread.start()
        before = counted
        with pytest.raises(exceptions.TransportError):
            network.at(client, server.url).Catalogue()
        during = counted - before
        is_done.set()
        thread.join()
    assert during > 10


def test_calls_of_several_threads_overlap(mock: Mock) -> None:
    mock.delay = 0.4
    mock.reply("Order", number=5)
    client = mock.client()
    start = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        placed = list(pool.map(lambda _: client.service.Order(**network.ORDER), range(8)))
    took = time.monotonic() - start
    assert [each.number for each in placed] == [5] * 8
    # One after the other, they take 3.2 s.
    assert 0.4 <= took < 2


def test_calls_do_not_leak() -> None:
    answer = network.ENVELOPE.format(
        '<OrderResponse xmlns="urn:shop"><number>5</number><total currency="EUR">20</total>'
        "<placed>2026-11-22T10:00:00Z</placed></OrderResponse>"
    )
    exchanged = (200, [("Content-Type", "text/xml")], answer.encode())

    class InMemory(Transport):
        def __init__(self) -> None:
            """Without a session."""

        def __del__(self) -> None:
            """There is nothing to close."""

        def load(self, url: str) -> bytes:
            return network.WSDL.read_bytes()

        def post(self, address: str, message: Any, headers: Any) -> Any:
            return HttpResponse(*exchanged)

    client = deltasoap.Client(str(network.WSDL), transport=InMemory())

    def calls(count: int) -> None:
        for number in range(count):
            assert (
                client.service.Order(**{**network.ORDER, "customer": f"c{number % 7}"}).number == 5
            )
            if number % 10 == 0:
                with pytest.raises(exceptions.ValidationError):
                    client.service.Order(customer="Ada")

    calls(1000)
    gc.collect()
    resident = _resident()
    tracemalloc.start()
    calls(200)
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    calls(CALLS)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000
    assert _resident() - resident < 20 << 20


def _resident() -> int:
    """The memory of the process, in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_connects_anew(mock: Mock) -> None:
    code = """
        import os, sys
        import deltasoap
        from deltasoap import plugins
        client = deltasoap.Client(sys.argv[1], plugins=[])
        other = deltasoap.Client(sys.argv[1], plugins=[plugins.HistoryPlugin()])
        order = {"customer": "Ada", "item": [{"code": "A-1", "count": 2}]}
        for each in (client, other):
            each.service.Order(**order)
        for _ in range(2):
            child = os.fork()
            if child == 0:
                for each in (client, other):
                    each.service.Order(**order)
                os._exit(7)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        client.service.Order(**order)
        other.service.Order(**order)
        print("parent", flush=True)
    """
    with run(code, mock.wsdl) as program:
        try:
            shown, errors = program.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            program.kill()
            raise
    assert shown.split() == ["7", "7", "parent"], errors
    assert len(mock.requests) == 8


def test_a_transport_may_make_calls_of_its_own(mock: Mock) -> None:
    mock.reply("Order", number=5)
    inner = HttpTransport()
    tokens = mock.client()

    class WithToken(Transport):
        def __init__(self) -> None:
            """Without a session."""

        def __del__(self) -> None:
            """There is nothing to close."""

        def load(self, url: str) -> bytes:
            return inner.load(url)

        def post(self, address: str, message: Any, headers: Any) -> Any:
            tokens.service.Catalogue()
            return inner.post(address, message, headers)

    client = deltasoap.Client(mock.wsdl, transport=WithToken())
    assert client.service.Order(**network.ORDER).number == 5
    assert [each.operation for each in mock.requests] == ["Catalogue", "Order"]


def test_a_client_that_its_transport_refers_to_is_collected(mock: Mock) -> None:
    class Knowing(HttpTransport):
        client: Any = None

    mock.reply("Order", number=5)
    transport = Knowing()
    client = transport.client = deltasoap.Client(mock.wsdl, transport=transport)
    assert client.service.Order(**network.ORDER).number == 5
    assert client.stats["requests"] == 1
    left = weakref.ref(client)
    del client, transport
    gc.collect()
    assert left() is None


LOGGER = "deltasoap.transports"


def test_calls_are_logged(mock: Mock, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, LOGGER)
    client = mock.client()
    client.service.Order(**network.ORDER)
    (called,) = [each.getMessage() for each in caplog.records if each.name == LOGGER]
    sent = len(mock.requests[0].envelope)
    assert called.startswith(f"HTTP Post to {mock.url}, Order, status 200, {sent} bytes sent, ")
    assert int(called.split(" received")[0].rpartition(" ")[2]) > 200
    assert called.endswith(" ms")
    assert "Ada" not in called


def test_failures_are_logged(mock: Mock, caplog: pytest.LogCaptureFixture) -> None:
    client = mock.client()
    mock.fault("Order", "sold out")
    caplog.set_level(logging.DEBUG, LOGGER)
    with pytest.raises(exceptions.Fault):
        client.service.Order(**network.ORDER)
    assert "Fault: sold out" in caplog.records[-1].getMessage()
    with network.server() as server:
        server.answer = (404, "text/plain", b"gone")
        with pytest.raises(exceptions.TransportError):
            network.at(client, server.url).Catalogue()
    assert "status 404" in caplog.records[-1].getMessage()
    with network.silence() as nowhere:
        pass
    with pytest.raises(exceptions.ConnectionError):
        network.at(client, nowhere).Catalogue()
    assert ", Catalogue, no answer, " in caplog.records[-1].getMessage()
    assert "sent" not in caplog.records[-1].getMessage()


@pytest.mark.parametrize(
    "options", [{"plugins": [HistoryPlugin()]}, {"transport": HttpTransport()}]
)
def test_other_ways_are_logged_once(
    mock: Mock, caplog: pytest.LogCaptureFixture, options: dict[str, Any]
) -> None:
    client = mock.client(**options)
    caplog.set_level(logging.DEBUG, LOGGER)
    client.service.Order(**network.ORDER)
    (line,) = [each.getMessage() for each in caplog.records if each.name == LOGGER]
    assert line.startswith(f"HTTP Post to {mock.url}, status 200, ")


def test_awaited_calls_are_logged(mock: Mock, caplog: pytest.LogCaptureFixture) -> None:
    import asyncio

    caplog.set_level(logging.DEBUG, LOGGER)

    async def order() -> Any:
        return await deltasoap.AsyncClient(mock.wsdl).service.Order(**network.ORDER)

    asyncio.run(order())
    assert ", Order, status 200, " in caplog.records[-1].getMessage()


def test_nothing_is_measured_without_a_log(mock: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    client = mock.client()

    def measured(*_: object) -> None:
        raise AssertionError("measured")

    monkeypatch.setattr(_exchanges.Logged, "_counted", measured)
    client.service.Order(**network.ORDER)


@pytest.mark.parametrize("transport", [None, HttpTransport()])
def test_documents_are_shown_while_they_are_loaded(mock: Mock, transport: Any) -> None:
    shown: list[str] = []
    settings = deltasoap.Settings(progress=shown.append)
    deltasoap.Client(mock.wsdl, transport=transport, settings=settings)
    assert shown == [mock.wsdl]
    shown.clear()
    deltasoap.Client(str(network.WSDL), transport=transport, settings=settings)
    assert shown == []


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_is_for_terminals(
    mock: Mock, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    done: list[str] = []

    class Bar:
        def __init__(self, **options: Any) -> None:
            done.append(options["desc"])

        def set_postfix_str(self, text: str, refresh: bool) -> None:
            done.append(text)

        def update(self) -> None:
            done.append("update")

        def close(self) -> None:
            done.append("close")

    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(sys, "stderr", _Terminal() if is_terminal else io.StringIO())
    deltasoap.Client(mock.wsdl, settings=deltasoap.Settings(progress=True))
    assert done == (["WSDL", "?wsdl", "update", "close"] if is_terminal else [])


def test_no_bar_without_tqdm(mock: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys, "stderr", _Terminal())
    client = deltasoap.Client(mock.wsdl, settings=deltasoap.Settings(progress=True))
    assert client.service.Order(**network.ORDER).number
