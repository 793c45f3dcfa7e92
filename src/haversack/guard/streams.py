"""Streams end with the key that opened them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from haversack.errors import StoreError
from haversack.guard.callers import unknown_key

__all__ = ["while_it_opens"]


async def while_it_opens(
    app: ASGIApp, call: tuple[Scope, Receive, Send], opens: Callable[[], Awaitable[bool]], *, every: float
) -> None:
    """Let the application answer for as long as `opens` says so, asked after so many seconds again and again."""
    scope, receive, send = call
    answer = _Answer(send)
    work = asyncio.ensure_future(app(scope, receive, answer))
    try:
        while not (await asyncio.wait({work}, timeout=every))[0] and await _asked(opens):
            pass
        if work.done():
            work.result()
            return
    finally:
        work.cancel()
        await asyncio.wait({work})
    await answer.end()


class _Answer:
    """A `send` that can be ended by somebody else than the application."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self._is_over = False

    async def __call__(self, message: Message) -> None:
        self._has_begun = True
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Nothing follows; Refused where nothing has been said yet."""
        if not self._has_begun:
            raise unknown_key()
        if not self._is_over:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def _asked(opens: Callable[[], Awaitable[bool]]) -> bool:
    """Who cannot be asked about is let in no longer."""
    try:
        return await opens()
    except StoreError:
        return False
