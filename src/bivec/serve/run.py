"""Start the server: take a port, say where, serve until Ctrl-C."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from bivec.errors import InputError, require

if TYPE_CHECKING:
    from fastapi import FastAPI

PORT = 8642
_TRIES = 10
_MOST_CONNECTIONS = 2_000


def take_port(host: str, port: int | None) -> socket.socket:
    """Listen on a port: the one that is named, or the first free one from 8642."""
    wanted = [port] if port is not None else [*range(PORT, PORT + _TRIES), 0]
    for number in wanted:
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
        except OSError as error:
            raise InputError(
                f"{host!r} is no address of this machine ({error.strerror})", "Check --host."
            ) from error
        try:
            return socket.create_server((host, number), family=family, backlog=_MOST_CONNECTIONS)
        except OSError as error:
            why = error
    raise InputError(
        f"cannot listen on {host}, port {wanted[0]} ({os.strerror(why.errno or 0)})",
        "Choose another --port, or leave it out.",
    )


def address(listening: socket.socket, host: str) -> str:
    """Return the address that a browser is to open."""
    name = f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):  # a browser cannot open these
        name = "localhost"
    return f"http://{name}:{listening.getsockname()[1]}/"


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Serve until interrupted."""
    uvicorn = require("uvicorn", extra="serve", purpose="The explorer")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        date_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])
