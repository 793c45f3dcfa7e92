"""Requests that wait for their turn: nothing is done for a client that leaves meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from starlette.types import Scope

from haversack.guard.refusal import Refused

__all__ = ["WAITING", "unless_client_leaves"]

WAITING = "haversack.waiting"
"""Where in the `state` of a request that waits the function stands which ends its waiting."""


@asynccontextmanager
async def unless_client_leaves(scope: Scope) -> AsyncGenerator[None]:
    """Raise Refused inside the block as soon as the connection is lost."""
    patience = asyncio.timeout(None)
    state = scope.setdefault("state", {})
    try:
        async with patience:
            state[WAITING] = partial(patience.reschedule, 0.0)
            try:
                yield
            finally:
                del state[WAITING]
    except TimeoutError:
        if not patience.expired():
            raise
        raise Refused(400, "INVALID_REQUEST", "the client went away") from None
