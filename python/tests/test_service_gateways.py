"""Services as applications: ASGI under uvicorn and Starlette, WSGI under wsgiref."""

from __future__ import annotations

import asyncio
import contextvars
import io
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.validate import validator

import httpx
import pytest
import requests
import uvicorn
import zeep
from shop import ORDER, XML, Shop, envelope, order
from starlette.applications import Starlette
from starlette.authentication import AuthCredentials, AuthenticationBackend, SimpleUser
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Mount

import deltasoap

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME", default="nobody")


@contextmanager
def under_uvicorn(application: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def under_wsgiref(application: Any) -> Iterator[str]:
    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    class Threads(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        request_queue_size = 64

    server = make_server("127.0.0.1", 0, validator(application), Threads, Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(params=["asgi", "wsgi"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Shop, str]]:
    shop = Shop(max_message=5000)
    is_asgi = request.param == "asgi"
    context = under_uvicorn(shop.service.asgi()) if is_asgi else under_wsgiref(shop.service.wsgi())
    with context as url:
        yield shop, url


def test_zeep_calls_functions(served: tuple[Shop, str]) -> None:
    shop, url = served
    client = zeep.Client(f"{url}shop?wsdl")
    assert client.service.Order(**ORDER).number == 2
    with pytest.raises(zeep.exceptions.Fault, match="no such customer"):
        client.service.Order(customer="nobody", item=ORDER["item"])
    assert client.service.Ping("hello") is None
    assert shop.pinged.wait(10)
    context = shop.contexts[0]
    assert context.peer is not None and context.peer[0] == "127.0.0.1"
    assert context.target == "/shop" and "user-agent" in context.http_headers


def test_the_wsdl_has_the_address_of_the_request(served: tuple[Shop, str]) -> None:
    _, url = served
    assert f'location="{url}a/b%20c"' in requests.get(f"{url}a/b%20c?wsdl").text
    assert requests.head(f"{url}?wsdl").content == b""
    assert requests.put(url, b"").status_code == 405


def test_bodies_are_read_up_to_the_limit(served: tuple[Shop, str]) -> None:
    shop, url = served
    assert requests.post(url, order("A" * 3000), headers=XML).status_code == 200
    reply = requests.post(url, order("A" * 6000), headers=XML)
    assert reply.status_code == 413 and "Fault" in reply.text
    assert len(shop.requests) == 1


def test_faults_have_their_status(served: tuple[Shop, str]) -> None:
    _, url = served
    assert requests.post(url, b"<a", headers=XML).status_code == 500
    assert requests.post(url, b"", headers=XML).status_code >= 400


def test_twenty_threads_call_at_once(served: tuple[Shop, str]) -> None:
    shop, url = served

    def call(index: int) -> None:
        for turn in range(5):
            count = 1 + index * 5 + turn
            assert (
                f"number>{count}<" in requests.post(url, order(count=str(count)), headers=XML).text
            )

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(call, range(20)))
    assert shop.service.stats["messages"] == 100


def test_requests_of_a_connection_are_compared_under_uvicorn() -> None:
    shop = Shop()
    with under_uvicorn(shop.service.asgi()) as url, requests.Session() as session:
        for count in range(100, 110):
            assert f">{count}<" in session.post(url, order(count=str(count)), headers=XML).text
    stats = shop.service.stats
    assert stats["request_bytes_skipped"] > stats["request_bytes_read"], stats


def test_wsgi_runs_functions_on_its_own_thread() -> None:
    shop = Shop()
    with under_wsgiref(shop.service.wsgi()) as url:
        requests.post(url, order(), headers=XML)
        many = order().replace(b"</s:Order>", b"<s:gift>g</s:gift>" * 20_000 + b"</s:Order>")
        assert requests.post(url, many, headers=XML).status_code == 200
    assert all("process_request_thread" in each for each in shop.threads), shop.threads


@pytest.mark.parametrize("kind", ["asgi", "wsgi", "own"])
def test_a_function_can_call_another_service(kind: str) -> None:
    inner, outer = Shop(), deltasoap.Service(name="Outer", namespace="urn:o")
    with inner.service.run_in_thread() as url:
        client = deltasoap.Client(f"{url}?wsdl")

        @outer.operation
        def forward(count: int) -> int:
            item = {"code": "A-1", "count": count}
            return int(client.service.Order(customer="Ada", item=[item]).number)

        contexts = {
            "asgi": lambda: under_uvicorn(outer.asgi()),
            "wsgi": lambda: under_wsgiref(outer.wsgi()),
            "own": outer.run_in_thread,
        }
        with contexts[kind]() as own:
            body = envelope('<o:forward xmlns:o="urn:o"><o:count>7</o:count></o:forward>')
            assert ">7<" in requests.post(own, body, headers=XML).text


def test_wsgi_takes_the_principal_of_the_server() -> None:
    shop = Shop()
    environ = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "/soap",
        "PATH_INFO": "/",
        "REMOTE_USER": "ada",
        "CONTENT_TYPE": "text/xml",
        "CONTENT_LENGTH": str(len(order())),
        "wsgi.input": io.BytesIO(order()),
        "wsgi.url_scheme": "https",
        "SERVER_NAME": "h",
        "SERVER_PORT": "443",
    }
    answered: list[Any] = []
    body = b"".join(shop.service.wsgi()(environ, lambda *args: answered.append(args)))
    assert answered[0][0] == "200 OK" and b"OrderResponse" in body
    assert (shop.contexts[0].principal, shop.contexts[0].target) == ("ada", "https://h:443/soap/")


def test_chunked_bodies_of_wsgi_are_read_if_the_server_ends_them() -> None:
    shop = Shop()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "CONTENT_TYPE": "text/xml",
        "wsgi.input": io.BytesIO(order()),
        "wsgi.input_terminated": True,
    }
    application = shop.service.wsgi()
    assert b"OrderResponse" in b"".join(application(environ, lambda *_: None))


async def _post(application: Any, path: str, body: bytes, **options: Any) -> httpx.Response:
    transport = httpx.ASGITransport(application)
    async with httpx.AsyncClient(transport=transport, base_url="https://shop.example") as client:
        return await client.post(path, content=body, headers=XML, **options)


def test_starlette_mounts_a_service_and_names_the_principal() -> None:
    class Backend(AuthenticationBackend):
        async def authenticate(self, conn: Any) -> Any:
            return AuthCredentials(["authenticated"]), SimpleUser("ada")

    shop = Shop()
    application = Starlette(
        routes=[Mount("/soap", shop.service.asgi())],
        middleware=[Middleware(AuthenticationMiddleware, backend=Backend())],
    )
    assert asyncio.run(_post(application, "/soap/shop", order())).status_code == 200
    assert shop.contexts[0].principal == "ada"
    assert shop.contexts[0].target == "https://shop.example/soap/shop"

    async def description() -> str:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(
            transport=transport, base_url="https://shop.example"
        ) as client:
            return (await client.get("/soap/shop?wsdl")).text

    assert 'location="https://shop.example/soap/shop"' in asyncio.run(description())


def test_functions_see_the_context_and_the_loop_of_the_application() -> None:
    service = deltasoap.Service(name="Names", namespace="urn:n")
    loops = []

    @service.operation
    def sync() -> str:
        return f"{NAME.get()} {threading.current_thread() is main}"

    @service.operation
    async def awaited() -> str:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return NAME.get()

    application = service.asgi()
    main = threading.current_thread()

    async def call(name: str) -> str:
        NAME.set("ada")
        return (await _post(application, "/", envelope(f'<n:{name} xmlns:n="urn:n"/>'))).text

    async def both() -> list[str]:
        texts = [await call("sync"), await call("awaited")]
        assert loops == [asyncio.get_running_loop()]
        return texts

    first, second = asyncio.run(both())
    assert ">ada False<" in first and ">ada<" in second


def test_asynchronous_functions_wait_at_the_same_time() -> None:
    service = deltasoap.Service(name="Barrier", namespace="urn:n")
    arrived = []

    @service.operation
    async def wait() -> None:
        arrived.append(1)
        while len(arrived) < 50:
            await asyncio.sleep(0.001)

    async def all_of_them() -> list[httpx.Response]:
        body = envelope('<n:wait xmlns:n="urn:n"/>')
        application = service.asgi()
        return await asyncio.gather(*(_post(application, "/", body) for _ in range(50)))

    replies = asyncio.run(asyncio.wait_for(all_of_them(), 30))
    assert {each.status_code for each in replies} == {200}


def test_the_application_takes_part_in_the_start_and_end_of_the_server() -> None:
    application, sent = Shop().service.asgi(), []

    async def run() -> None:
        events = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            return next(events)

        async def send(event: Any) -> None:
            sent.append(event["type"])

        await application({"type": "lifespan"}, receive, send)
        await application({"type": "websocket"}, receive, send)

    asyncio.run(run())
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]


def test_a_request_whose_client_has_gone_is_not_answered() -> None:
    shop = Shop()
    sent: list[Any] = []

    async def run() -> None:
        async def receive() -> Any:
            return {"type": "http.disconnect"}

        async def send(event: Any) -> None:
            sent.append(event)

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "query_string": b""}
        await shop.service.asgi()(scope, receive, send)

    asyncio.run(run())
    assert not sent and not shop.requests


def test_a_request_that_is_cancelled_cancels_the_function() -> None:
    service = deltasoap.Service(name="Slow", namespace="urn:slow")
    seen = []

    @service.operation
    async def wait() -> None:
        seen.append("begun")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def until(count: int) -> None:
        while len(seen) < count:
            await asyncio.sleep(0.01)

    async def call() -> None:
        body = envelope('<w:wait xmlns:w="urn:slow"/>')
        request = asyncio.create_task(_post(service.asgi(), "/", body))
        await asyncio.wait_for(until(1), 20)
        request.cancel()
        await asyncio.wait_for(until(2), 20)

    asyncio.run(call())
    assert seen == ["begun", "cancelled"]


def test_no_exception_of_a_function_ends_the_loop() -> None:
    service = deltasoap.Service(name="Ends", namespace="urn:ends")

    @service.operation
    async def leave() -> None:
        raise SystemExit(3)

    async def call() -> list[int]:
        body = envelope('<w:leave xmlns:w="urn:ends"/>')
        return [(await _post(service.asgi(), "/", body)).status_code for _ in range(2)]

    assert asyncio.run(call()) == [500, 500]


def test_memory_is_that_of_an_address_and_of_few_of_them() -> None:
    shop = Shop()
    application = shop.service.wsgi()

    def skipped(port: int, count: int = 3) -> int:
        """Send requests from a port; return how much of them was known."""
        before: int = shop.service.stats["request_bytes_skipped"]
        for _ in range(count):
            environ = {
                "REQUEST_METHOD": "POST",
                "PATH_INFO": "/",
                "CONTENT_TYPE": "text/xml",
                "CONTENT_LENGTH": str(len(order())),
                "REMOTE_ADDR": "10.0.0.1",
                "REMOTE_PORT": str(port),
                "wsgi.input": io.BytesIO(order()),
            }
            assert b"OrderResponse" in b"".join(application(environ, lambda *_: None))
        return shop.service.stats["request_bytes_skipped"] - before

    assert skipped(1) > 0
    assert skipped(0) == 0, "without a port, it is unknown which requests are of one client"
    assert skipped(2, 1) == 0 and skipped(1, 1) > 0
    for port in range(1000, 2100):
        skipped(port, 1)
    assert skipped(1, 1) == 0, "the connection was forgotten"
