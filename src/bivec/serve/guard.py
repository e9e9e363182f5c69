"""What every request passes and every answer carries: who may ask, how much, and what may run.

A page on the web can make a name of its own point at 127.0.0.1 and so reach a server on this
machine as if it were its own (DNS rebinding). On a loopback address the ``Host`` header must
therefore name the loopback. The content security policy allows scripts and styles of this server
and nothing else, and refuses text that would be turned into markup by a script.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 1 << 20
"""Bytes of a request."""
TOO_LARGE = f"a request may have at most {MOST_BODY:,} bytes"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Guard:
    """The outermost layer of the application.

    Parameters
    ----------
    app : ASGI application
    loopback_only : bool
        Whether the ``Host`` header must name the loopback.
    """

    def __init__(self, app: Application, loopback_only: bool = True) -> None:
        self.app = app
        self.loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        host = headers.get(b"host", b"").decode("latin-1")
        if self.loopback_only and not is_loopback(host_name(host)):
            await _refuse(
                send, 403, "this server answers only to the name of this machine's loopback"
            )
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BODY:
            await _refuse(send, 413, TOO_LARGE)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MOST_BODY:  # a body sent in chunks tells no length beforehand
                raise HTTPException(413, TOO_LARGE)
            return message

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await self.app(scope, counted, dressed)


async def _refuse(send: Send, status: int, why: str) -> None:
    body = json.dumps({"detail": why}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def host_name(header: str) -> str:
    """Return the name in a Host header, without the port.

    >>> host_name("localhost:8642"), host_name("[::1]:8642"), host_name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if ":" in header else header


def is_loopback(name: str) -> bool:
    """Tell whether a name or address is this machine's loopback.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("localhost.example.org")
    (True, True, False)
    """
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
