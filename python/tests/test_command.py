"""The command `deltasoap` in the process of Python."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import network
import pytest

import deltasoap
from deltasoap.__main__ import main
from deltasoap.testing import Mock

_engine = pytest.importorskip("deltasoap._engine")
if not hasattr(_engine, "command"):
    pytest.skip("the engine was built without the command", allow_module_level=True)

COMMAND = [sys.executable, "-m", "deltasoap"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60)


def test_the_command_is_the_one_of_rust() -> None:
    shown = run("list", str(network.WSDL))
    assert shown.returncode == 0, shown.stderr
    assert "Order" in shown.stdout
    assert run("--version").stdout.startswith("deltasoap ")


def test_exit_codes() -> None:
    assert run().returncode == 2
    wrong = run("lst")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "list" in wrong.stderr
    missing = run("list", "no-such.wsdl")
    assert missing.returncode == 1
    assert "no-such.wsdl" in missing.stderr


def test_it_runs_in_this_process(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["template", str(network.WSDL), "Catalogue"]) == 0
    first = capfd.readouterr().out
    assert "Catalogue" in first or "{}" in first
    assert main(["template", str(network.WSDL), "Catalogue"]) == 0
    assert capfd.readouterr().out == first


def test_it_calls_a_mock_of_the_same_process(capfd: pytest.CaptureFixture[str]) -> None:
    with Mock(network.WSDL) as mock:
        mock.reply("Order", number=5)
        mock.fault("Order", "sold out")
        call = ["call", mock.wsdl, "Order", "-d", json.dumps(network.ORDER)]
        assert main(call) == 0
        assert json.loads(capfd.readouterr().out)["number"] == 5
        assert main(call) == 3
        assert "sold out" in capfd.readouterr().err
    assert [each.values.customer for each in mock.requests] == ["Ada", "Ada"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_mock_of_the_command_stops_at_an_interrupt() -> None:
    mock = [*COMMAND, "mock", "--listen", "127.0.0.1:0", str(network.WSDL)]
    pipe = subprocess.PIPE
    with subprocess.Popen(mock, stdout=pipe, stderr=pipe, text=True) as program:
        assert program.stdout is not None
        url = program.stdout.readline().split()[-1]
        client = network.at(deltasoap.Client(str(network.WSDL)), url)
        assert isinstance(client.Order(**network.ORDER).number, int)
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=20)
    assert program.returncode == 0
    assert errors == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_call_that_waits_ends_at_an_interrupt() -> None:
    with network.silence() as url:
        call = [*COMMAND, "call", str(network.WSDL), "Catalogue", "--endpoint", url]
        with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
            time.sleep(1.5)
            assert program.poll() is None
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=20)
    assert program.returncode == -signal.SIGINT
    assert errors == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_is_raised_in_programs() -> None:
    def interrupt() -> None:
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    with network.silence() as url, pytest.raises(KeyboardInterrupt):
        thread.start()
        main(["call", str(network.WSDL), "Catalogue", "--endpoint", url])
    thread.join()


def test_other_threads_run_meanwhile() -> None:
    counted: list[int] = []
    is_done = threading.Event()

    def count() -> None:
        while not is_done.is_set():
            counted.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    with network.server() as server:
        server.delay = 0.5
        thread.start()
        before = len(counted)
        main(["call", str(network.WSDL), "Catalogue", "--endpoint", server.url])
        assert len(counted) - before > 10
        is_done.set()
        thread.join()


def test_without_the_feature_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    monkeypatch.delattr(_engine, "command")
    assert main(["--version"]) == 1
    assert "no command" in capsys.readouterr().err
