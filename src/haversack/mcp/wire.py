"""Both directions of stdio, with what the protocol's own loop leaves out.

A line that cannot be read is mended where that is safe, or else answered: a client that cuts a text in the middle of
an emoji sends half a surrogate pair, which a strict JSON reader refuses, and would wait for its answer for ever. When
stdin ends, what was asked before is answered first.
"""

from __future__ import annotations

import contextvars
import json
from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from haversack.model.text import clean

__all__ = ["Incoming", "Outgoing", "Unanswered", "mend"]

_Item = SessionMessage | Exception
_PATIENCE = 30.0
"""Seconds for which answers hold up the end."""


class Unanswered:
    """Requests that came in and were not answered yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._none = anyio.Event()

    def came(self, message: types.JSONRPCMessage) -> None:
        """Note a request, or that one was called off."""
        match message:
            case types.JSONRPCRequest():
                self._ids.add(str(message.id))
            case types.JSONRPCNotification(method="notifications/cancelled"):
                self._drop(str((message.params or {}).get("requestId")))
            case _:
                pass

    def went(self, message: types.JSONRPCMessage) -> None:
        """Note an answer."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._drop(str(message.id))

    async def none(self) -> None:
        """Wait until every request is answered, but not for ever."""
        with anyio.move_on_after(_PATIENCE):
            while self._ids:
                self._none = anyio.Event()
                await self._none.wait()

    def _drop(self, name: str) -> None:
        self._ids.discard(name)
        if not self._ids:
            self._none.set()


class Outgoing:
    """The answers on their way out."""

    def __init__(self, stream: WriteStream[SessionMessage], unanswered: Unanswered) -> None:
        self._stream = stream
        self._unanswered = unanswered

    async def send(self, item: SessionMessage, /) -> None:
        """Send one message."""
        await self._stream.send(item)
        self._unanswered.went(item.message)

    async def aclose(self) -> None:
        """Close this side."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


class Incoming:
    """The messages that come in, without those that are no messages; their senders are told."""

    def __init__(self, stream: ReadStream[_Item], outgoing: Outgoing, unanswered: Unanswered) -> None:
        self._stream = stream
        self._outgoing = outgoing
        self._unanswered = unanswered

    @property
    def last_context(self) -> contextvars.Context | None:
        """Where the last message came from, as the protocol's loop asks for it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> _Item:
        """The next message; its end is told when everything is answered."""
        while True:
            try:
                item = await self._stream.receive()
            except anyio.EndOfStream:
                await self._unanswered.none()
                raise
            found = mend(item) if isinstance(item, Exception) else item
            if isinstance(found, SessionMessage):
                self._unanswered.came(found.message)
                return found
            if found is not None:
                await self._outgoing.send(SessionMessage(found))

    async def aclose(self) -> None:
        """Close this side."""
        await self._stream.aclose()

    def __aiter__(self) -> ReadStream[_Item]:
        return self

    async def __anext__(self) -> _Item:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()


def mend(error: Exception) -> SessionMessage | types.JSONRPCError | None:
    """What an unreadable line means: a message after all, a refusal, or nothing when it is blank."""
    first = error.errors()[0] if isinstance(error, ValidationError) else None
    if first is None or first["type"] != "json_invalid":
        return _refusal(types.INVALID_REQUEST, "this is no JSON-RPC 2.0 message")
    line = first["input"]
    if not line.strip():
        return None
    try:
        whole = clean(json.dumps(json.loads(line), ensure_ascii=False))
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, RecursionError):
        return _refusal(types.PARSE_ERROR, "this line is no JSON")


def _refusal(code: int, words: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=words))
