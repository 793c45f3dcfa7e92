"""Listening: refused beyond loopback without keys, patient only so long, stopped with nothing acknowledged lost."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping
from dataclasses import replace

from fastapi import FastAPI
from starlette.types import ASGIApp

from haversack.engine.haversack import Haversack
from haversack.errors import ConfigError
from haversack.guard.listening import Listener, is_loopback, listener
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
    """Listen until told to stop (SIGINT, SIGTERM). Raises ConfigError for an address that needs keys and has none.

    `pages` are applications with a way in of their own, by the paths under which they stand.
    """
    has_keys = sack.keys.exist() or settings.tokens is not None
    if not has_keys and not is_loopback(host):
        raise ConfigError(
            f"listening on {host} needs keys, or anybody who reaches it could read every memory: "
            "make one first with `haversack keys create NAME --scope admin`"
        )
    chosen = replace(settings, open=not has_keys)
    _log_in_json()
    Server(create_app(sack, chosen, pages), chosen, host=host, port=port).run()


class Server(Listener):
    """The application, listening. Told to stop, it ends event streams first, then awaits the requests at work."""

    def __init__(self, app: FastAPI, settings: ServerSettings, *, host: str, port: int) -> None:
        super().__init__(listener(app, settings.limits, host=host, port=port))
        self._stopping: asyncio.Event = app.state.stopping

    def stop(self) -> None:
        """Stop gracefully; may be called from any thread."""
        super().stop()
        self._stopping.set()


def _log_in_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
