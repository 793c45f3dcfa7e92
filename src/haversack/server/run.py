"""Listening: refused without keys unless asked for, patient only so long, stopped with nothing acknowledged lost."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping

from fastapi import FastAPI
from starlette.types import ASGIApp

from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError
from haversack.guard.listening import Listener, listener
from haversack.guard.local import check_open_start
from haversack.server.app import create_app
from haversack.server.settings import ServerSettings
from haversack.server.watch import JsonLines

__all__ = ["Server", "serve"]


def serve(
    sack: Haversack,
    settings: ServerSettings,
    *,
    host: str = "127.0.0.1",
    port: int = 3300,
    pages: Mapping[str, ASGIApp] | None = None,
) -> None:
    """Listen until told to stop (SIGINT, SIGTERM). Raises ConfigError unless there is a key, or open is allowed.

    `pages` are applications with a way in of their own, by the paths under which they stand.
    """
    if settings.open:
        check_open_start(sack, host)
    elif settings.tokens is None and not sack.keys.exist():
        raise ConfigError(_without_key(sack))
    _log_in_json()
    Server(create_app(sack, settings, pages), settings, host=host, port=port).run()


class Server(Listener):
    """The application, listening. Told to stop, it ends event streams first, then awaits the requests at work."""

    def __init__(self, app: FastAPI, settings: ServerSettings, *, host: str, port: int) -> None:
        super().__init__(listener(app, settings.limits, host=host, port=port))
        self._stopping: asyncio.Event = app.state.stopping

    def stop(self) -> None:
        """Stop gracefully; may be called from any thread."""
        super().stop()
        self._stopping.set()


def _without_key(sack: Haversack) -> str:
    make = "make one with `haversack keys create NAME --scope admin`"
    if sack.keys.ever_existed():
        return f"all keys of this store are revoked or expired, and it is never served without one: {make}"
    return f"this store has no key yet: {make}, or let every program of this machine in with `haversack serve --open`"


def _log_in_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
