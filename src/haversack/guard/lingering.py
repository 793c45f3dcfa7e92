"""Answers that reach a client which is still sending.

Closing a connection with unread bytes in it resets it, and the client sees that instead of the answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import Message, Receive, Send

__all__ = ["Incoming", "lingering"]

_DRAINED = 64 << 20
_DRAIN_SECONDS = 5.0


class Incoming:
    """A `receive` that knows whether the whole body has arrived."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.whole = False

    async def __call__(self) -> Message:
        """The next message."""
        message = await self._receive()
        self.whole = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message


def lingering(incoming: Incoming, send: Send) -> Send:
    """A `send` that, before it ends the answer, reads and drops what the client still sends, within bounds."""

    async def sent(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not is_last or incoming.whole:
            await send(message)
            return
        await send({**message, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await _drain(incoming)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sent


async def _drain(incoming: Incoming) -> None:
    size = 0
    while size < _DRAINED and not incoming.whole:
        size += len((await incoming()).get("body", b""))
