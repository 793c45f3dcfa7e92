"""Listening on loopback, for one person and one store; and standing beside a server."""

from __future__ import annotations

import socket
from collections.abc import Callable

from starlette.types import ASGIApp

from haversack.clock import utc_now
from haversack.engine.haversack import Haversack
from haversack.guard.body import BodyLimits
from haversack.guard.listening import Listener, listener
from haversack.guard.settings import Limits
from haversack.inspector.app import create_pages
from haversack.inspector.entrance import Entrance, Way
from haversack.inspector.gate import HOME
from haversack.inspector.render import Defaults

__all__ = ["listen", "pages_of"]


def listen(sack: Haversack, defaults: Defaults, *, port: int = 0, tell: Callable[[str], None]) -> None:
    """Listen on 127.0.0.1 until told to stop; `tell` is given the address to open, which holds a token for one use."""
    entrance = Entrance(sack=sack, way=Way.TOKEN, clock=utc_now)
    token = entrance.token
    with socket.create_server(("127.0.0.1", port)) as listening:
        limits = Limits(drain_seconds=2)
        config = listener(BodyLimits(create_pages(entrance, defaults), limits), limits)
        tell(f"http://127.0.0.1:{listening.getsockname()[1]}{HOME}/enter?token={token}")
        Listener(config).run(sockets=[listening])


def pages_of(sack: Haversack, defaults: Defaults, *, by_key: bool) -> dict[str, ASGIApp]:
    """The pages for a server, by their path: opened by a key, or by anybody on this machine."""
    way = Way.KEY if by_key else Way.OPEN
    return {HOME: create_pages(Entrance(sack=sack, way=way, clock=utc_now), defaults)}
