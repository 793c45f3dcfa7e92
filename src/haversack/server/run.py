"""Listening: refused beyond loopback without keys, patient only so long, stopped with nothing acknowledged lost."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import cast

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError
from haversack.server.app import create_app
from haversack.server.settings import ServerSettings
from haversack.server.watch import JsonLines

__all__ = ["Server", "is_loopback", "serve"]

_HEAD_BYTES = 32_768


def serve(
    sack: Haversack,
    settings: ServerSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 3300,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> None:
    """Listen until told to stop (SIGINT, SIGTERM). Raises ConfigError for an address that needs keys and has none.

    `around` puts something of the caller's beside the application, under paths of its own.
    """
    has_keys = sack.keys.exist() or settings.tokens is not None
    if not has_keys and not is_loopback(host):
        raise ConfigError(
            f"listening on {host} needs keys, or anybody who reaches it could read every memory: "
            "make one first with `haversack keys create NAME --scope admin`"
        )
    chosen = replace(settings, open=not has_keys)
    _log_in_json()
    Server(create_app(sack, chosen), chosen, host=host, port=port, around=around).run()


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Server(uvicorn.Server):
    """Uvicorn with our limits; when it is told to stop, event streams end first, then requests at work are awaited."""

    def __init__(
        self,
        app: FastAPI,
        settings: ServerSettings,
        *,
        host: str,
        port: int,
        around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    ) -> None:
        limits = settings.limits
        super().__init__(
            uvicorn.Config(
                around(app),
                host=host,
                port=port,
                http=cast("type[asyncio.Protocol]", _impatient(limits.head_seconds)),
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
        )
        self._stopping: asyncio.Event = app.state.stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: stop taking requests and end the event streams."""
        self.stop()
        super().handle_exit(sig, frame)

    def stop(self) -> None:
        """Stop gracefully; may be called from any thread."""
        self.should_exit = True
        self._stopping.set()


def _impatient(seconds: float) -> type[H11Protocol]:
    """A connection that is closed when a request's headers do not arrive in time."""

    class Impatient(H11Protocol):
        """Closes on those who dawdle with their headers."""

        _until: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            self._until = self.loop.call_later(seconds, transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        def eof_received(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
            """Who has said everything and closed that half still gets the answer; anybody else is gone."""
            asked = self.cycle is not None and not self.cycle.more_body  # pyright: ignore[reportUnnecessaryComparison]
            return asked and not self.cycle.response_complete

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            is_idle = before is None or before.response_complete  # pyright: ignore[reportUnnecessaryComparison]
            if is_idle and self._until is None:
                self._until = self.loop.call_later(seconds, self.transport.close)
            super().data_received(data)
            if self.cycle is not before:
                self._calm()

        def _calm(self) -> None:
            if self._until is not None:
                self._until.cancel()
                self._until = None

    return Impatient


def _log_in_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
