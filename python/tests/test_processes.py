"""The end of a process while threads still call and serve, and forked processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import network
import pytest

from deltasoap.testing import Mock

#: A service, and clients of it: each with functions that are awaited and others.
SERVICE = """
import asyncio, io, os, sys, threading, time
from wsgiref.util import setup_testing_defaults
import deltasoap

service = deltasoap.Service(name="Sums", namespace="urn:sums")

@service.operation
def plus(x: int) -> int:
    return x + 1

@service.operation
async def minus(x: int) -> int:
    await asyncio.sleep(0)
    return x - 1

ENVELOPE = (
    '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>'
    '<{0} xmlns="urn:sums"><x>1</x></{0}></e:Body></e:Envelope>'
)

async def asgi(application, name):
    sent = []
    async def receive():
        return {"type": "http.request", "body": ENVELOPE.format(name).encode()}
    async def send(event):
        sent.append(event)
    scope = {
        "type": "http", "method": "POST", "path": "/", "scheme": "http", "query_string": b"",
        "headers": [(b"content-type", b"text/xml")], "client": ("127.0.0.1", 5),
    }
    await application(scope, receive, send)
    return sent[0]["status"]

def wsgi(application, name):
    body, statuses = ENVELOPE.format(name).encode(), []
    environ = {"wsgi.input": io.BytesIO(body)}
    setup_testing_defaults(environ)
    environ |= {"REQUEST_METHOD": "POST", "CONTENT_TYPE": "text/xml"}
    environ["CONTENT_LENGTH"] = str(len(body))
    application(environ, lambda status, headers: statuses.append(int(status[:3])))
    return statuses[0]

def repeat(call):
    def calling():
        while True:
            call()
    threading.Thread(target=calling, daemon=True).start()
"""


def run(code: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    program = SERVICE + textwrap.dedent(code)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


BUSY = {
    "client": """
        async def calls(url):
            operations = deltasoap.AsyncClient(f"{url}?wsdl").service
            async def calling():
                while True:
                    await operations.plus(1)
            await asyncio.gather(*(calling() for _ in range(8)))
        serving = service.run_in_thread()
        url = serving.__enter__()
        threading.Thread(target=lambda: asyncio.run(calls(url)), daemon=True).start()
    """,
    "server": """
        serving = service.run_in_thread()
        url = serving.__enter__()
        operations = deltasoap.Client(f"{url}?wsdl").service
        for _ in range(4):
            repeat(lambda: operations.minus(1))
    """,
    "asgi": """
        application = service.asgi()
        async def calls():
            async def calling():
                while True:
                    await asgi(application, "plus")
                    await asgi(application, "minus")
            await asyncio.gather(*(calling() for _ in range(8)))
        threading.Thread(target=lambda: asyncio.run(calls()), daemon=True).start()
    """,
    "wsgi": """
        application = service.wsgi()
        for name in ("plus", "minus", "plus", "minus"):
            repeat(lambda name=name: wsgi(application, name))
    """,
}


@pytest.mark.parametrize("kind", BUSY)
def test_a_process_ends_while_threads_are_busy(kind: str) -> None:
    code = f"{textwrap.dedent(BUSY[kind])}\ntime.sleep(0.4)\n"
    with ThreadPoolExecutor(4) as threads:
        ended = list(threads.map(run, [code] * 12))
    assert [each.returncode for each in ended] == [0] * 12, [each.stderr for each in ended]


def test_functions_that_have_begun_are_waited_for() -> None:
    code = """
        begun = threading.Event()
        @service.operation
        def slow(x: int) -> int:
            begun.set()
            time.sleep(0.5)
            print("ended", flush=True)
            return x
        serving = service.run_in_thread()
        url = serving.__enter__()
        operations = deltasoap.Client(f"{url}?wsdl").service
        repeat(lambda: operations.slow(1))
        begun.wait()
    """
    ended = run(code)
    assert (ended.returncode, ended.stdout) == (0, "ended\n"), ended.stderr


@pytest.mark.parametrize("order", ["before", "after"])
def test_the_last_thread_calls_at_exit(order: str) -> None:
    code = """
        import atexit, sys
        def late():
            item = {"code": "A-1", "count": 2}
            print(deltasoap.Client(sys.argv[1]).service.Order(customer="Ada", item=[item]).number)
        if sys.argv[2] == "after":
            atexit.register(late)
        import deltasoap
        if sys.argv[2] == "before":
            atexit.register(late)
    """
    with Mock(network.WSDL) as mock:
        mock.reply("Order", number=5)
        command = [sys.executable, "-c", textwrap.dedent(code), mock.wsdl, order]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "5\n"), ended.stderr


CALLS = {
    "client": 'asyncio.run(calls(client))',
    "asgi": '[asyncio.run(asgi(application, name)) for name in ("plus", "minus")]',
    "wsgi": '[wsgi(gateway, name) for name in ("plus", "minus")]',
    "server": "served()",
}  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("kind", CALLS)
def test_a_forked_process_calls_and_serves(kind: str) -> None:
    code = f"""
        application, gateway = service.asgi(), service.wsgi()
        serving = service.run_in_thread()
        url = serving.__enter__()
        client = deltasoap.AsyncClient(f"{{url}}?wsdl")
        async def calls(client):
            return [await client.service.plus(1), await client.service.minus(1)]
        def served():
            with service.run_in_thread() as url:
                operations = deltasoap.Client(f"{{url}}?wsdl").service
                return [operations.plus(1), operations.minus(1)]
        first = {CALLS[kind]}
        for _ in range(2):
            child = os.fork()
            if child == 0:
                again = {CALLS[kind]}
                os._exit(7 if again == first else 1)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        print({CALLS[kind]} == first)
    """
    ended = run(code, 30)
    assert ended.stdout.split() == ["7", "7", "True"], ended.stderr
