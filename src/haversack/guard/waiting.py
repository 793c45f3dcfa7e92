"""Requests that wait for a place: nothing is done for a client that leaves meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from starlette.types import Scope

from haversack.guard.refusal import Refused

__all__ = ["client_left", "unless_client_leaves"]

_LEFT, _STOP = "haversack.left", "haversack.stop-waiting"
"""Where in the `state` of a request it stands that its client left, and the function that ends its waiting."""


def client_left(scope: Scope) -> None:
    """Note that the client closed the connection, or the half on which it sends."""
    state = scope.setdefault("state", {})
    state[_LEFT] = True
    if _STOP in state:
        state[_STOP]()


@asynccontextmanager
async def unless_client_leaves(scope: Scope) -> AsyncGenerator[None]:
    """Raise Refused where this block has to wait and the client has left, or leaves meanwhile."""
    state = scope.setdefault("state", {})
    patience = asyncio.timeout(0 if _LEFT in state else None)
    try:
        async with patience:
            state[_STOP] = partial(patience.reschedule, 0.0)
            try:
                yield
            finally:
                del state[_STOP]
    except TimeoutError:
        if not patience.expired():
            raise
        why = "the server is busy, and the client closed its side of the connection while it waited"
        raise Refused(503, "SERVICE_UNAVAILABLE", why, headers={"retry-after": "1"}) from None
