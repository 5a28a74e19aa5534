"""A service as an application of ASGI or WSGI.

Both read the body up to the service's limit, and hand the request to the engine.
"""

from __future__ import annotations

import http
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from deltasoap.service import Service

__all__ = ["AsgiApplication", "WsgiApplication"]

_Event = MutableMapping[str, Any]

#: Bytes that stand for themselves in the path of a URL.
_PLAIN = "/!$&'()*+,;=:@-._~"


class AsgiApplication:
    """A service for ASGI servers, or mounted in an application of Starlette or FastAPI."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(
        self,
        scope: _Event,
        receive: Callable[[], Awaitable[_Event]],
        send: Callable[[_Event], Awaitable[None]],
    ) -> None:
        """Answer one request, or take part in the server's start and end."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _answer(
        self,
        scope: _Event,
        receive: Callable[[], Awaitable[_Event]],
        send: Callable[[_Event], Awaitable[None]],
    ) -> None:
        headers = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
        body = await _body(receive, self._service._body_limit(headers))
        if body is None:
            return
        client = scope.get("client")
        status, answered, content = await self._service._server.handle_async(
            scope["method"],
            _target(scope),
            headers,
            body,
            peer=(str(client[0]), int(client[1] or 0)) if client else None,
            principal=_user(scope),
            secure=scope.get("scheme") == "https",
        )
        await send({"type": "http.response.start", "status": status, "headers": answered})
        content = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": content})


async def _lifespan(
    receive: Callable[[], Awaitable[_Event]], send: Callable[[_Event], Awaitable[None]]
) -> None:
    while True:
        event = await receive()
        await send({"type": f"{event['type']}.complete"})
        if event["type"] == "lifespan.shutdown":
            return


async def _body(receive: Callable[[], Awaitable[_Event]], limit: int) -> bytes | None:
    """The body, cut one byte after the limit; None if the client has gone."""
    chunks: list[bytes] = []
    length, has_more = 0, True
    while has_more and length <= limit:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        chunk = event.get("body", b"")
        chunks.append(chunk)
        length += len(chunk)
        has_more = event.get("more_body", False)
    return b"".join(chunks)[: limit + 1]


def _target(scope: _Event) -> str:
    path, root = scope["path"], scope.get("root_path", "")
    # Older servers leave the path at which an application is mounted out.
    if root and not path.startswith(root):
        path = root + path
    query = bytes(scope.get("query_string", b"")).decode("latin-1")
    return _joined(quote(path, safe=_PLAIN), query)


def _joined(path: str, query: str) -> str:
    path = path if path.startswith("/") else f"/{path}"
    return f"{path}?{query}" if query else path


def _user(scope: _Event) -> str | None:
    """The user that a layer of authentication found."""
    user = scope.get("user")
    if user is None or not getattr(user, "is_authenticated", False):
        return None
    try:
        return str(user.identity)
    except (AttributeError, NotImplementedError):
        return str(getattr(user, "display_name", user))


class WsgiApplication:
    """A service for WSGI servers, or mounted in an application of Django or Flask."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request."""
        headers = _headers(environ)
        host, port = environ.get("REMOTE_ADDR"), environ.get("REMOTE_PORT") or 0
        path = f"{environ.get('SCRIPT_NAME', '')}{environ.get('PATH_INFO', '')}"
        status, answered, content = self._service._server.handle(
            environ["REQUEST_METHOD"],
            _joined(quote(path.encode("latin-1"), safe=_PLAIN), environ.get("QUERY_STRING", "")),
            headers,
            _input(environ, self._service._body_limit(headers)),
            peer=(host, int(port)) if host else None,
            principal=environ.get("REMOTE_USER") or None,
            secure=environ.get("wsgi.url_scheme") == "https",
        )
        texts = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answered]
        # WSGI wants a type also where there is no content.
        if all(name != "content-type" for name, _ in texts):
            texts.append(("content-type", "text/xml; charset=utf-8"))
        start_response(f"{status} {http.HTTPStatus(status).phrase}", texts)
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else content]


def _headers(environ: dict[str, Any]) -> list[tuple[bytes, bytes]]:
    found = [
        (name[5:].replace("_", "-").lower(), value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    ]
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            found.append((name.replace("_", "-").lower(), environ[name]))
    if not environ.get("HTTP_HOST") and environ.get("SERVER_NAME"):
        found.append(("host", f"{environ['SERVER_NAME']}:{environ.get('SERVER_PORT', 80)}"))
    return [(name.encode("latin-1"), str(value).encode("latin-1")) for name, value in found]


def _input(environ: dict[str, Any], limit: int) -> bytes:
    """The body, cut one byte after the limit."""
    stream, length = environ["wsgi.input"], environ.get("CONTENT_LENGTH")
    if length:
        # A length that is no number is refused as a body that is missing.
        left = min(int(length) if length.isdigit() else 0, limit + 1)
    elif environ.get("wsgi.input_terminated") or environ.get("HTTP_TRANSFER_ENCODING"):
        left = limit + 1
    else:
        return b""
    chunks: list[bytes] = []
    while left > 0:
        chunk = stream.read(min(left, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
