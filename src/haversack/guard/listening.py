"""Listening: what uvicorn is told by every door, and how it is told to stop."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
from types import FrameType
from typing import cast
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from haversack.guard.connection import STREAM, connection
from haversack.guard.settings import Limits

__all__ = ["STREAM", "Listener", "is_loopback", "listener", "names_loopback"]

_HEAD_BYTES = 32_768


def listener(app: ASGIApp, limits: Limits, *, host: str = "127.0.0.1", port: int = 0) -> uvicorn.Config:
    """The application as it is served within these limits. No proxy's word is taken for where a request comes from."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=cast("type[asyncio.Protocol]", connection(limits)),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=int(limits.drain_seconds),
        h11_max_incomplete_event_size=_HEAD_BYTES,
        proxy_headers=False,
    )


class Listener(uvicorn.Server):
    """Uvicorn that returns after it was told to stop, so that whoever started it can close the store."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: stop taking requests; the second Ctrl-C waits for nothing."""
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.stop()

    def stop(self) -> None:
        """Stop gracefully; may be called from any thread."""
        self.should_exit = True


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def names_loopback(address: str) -> bool:
    """Whether an address with a scheme or `//` before it (of a header) means this machine."""
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
