"""Connections that are closed on those who dawdle with a request or its answer, and on addresses that take too many."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, ClassVar, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from haversack.guard.address import address_of
from haversack.guard.settings import Limits
from haversack.guard.waiting import client_left

if TYPE_CHECKING:
    from starlette.types import Scope

__all__ = ["STREAM", "connection"]

STREAM = "haversack.stream"
"""What stands in the `state` of a request whose answer goes on until the client leaves."""
_NO_MORE = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
"""The answer to a connection too many of one address, given before it asks anything."""


def connection(limits: Limits) -> type[H11Protocol]:
    """Return the kind of connection that one listener makes; its connections count the same addresses."""
    return type("Connection", (_Impatient,), {"limits": limits, "counts": Counter[str]()})


class _Impatient(H11Protocol):
    limits: ClassVar[Limits]
    counts: ClassVar[Counter[str]]
    """Open connections by address."""
    _address: str | None = None
    """Where it comes from, once it counts."""
    _asking: asyncio.TimerHandle | None = None
    _sending: asyncio.TimerHandle | None = None
    _unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        address = address_of({"client": transport.get_extra_info("peername")})
        if self.counts[address] >= self.limits.address_connections:
            transport.write(_NO_MORE)
            transport.close()
            return
        self.counts[address] += 1
        self._address = address
        # Whatever waits to be sent pauses writing, so that none of it waits without a deadline.
        transport.set_write_buffer_limits(high=0)
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._address is None:
            return
        self.counts.subtract([self._address])
        if not self.counts[self._address]:
            del self.counts[self._address]
        self._asking = _cancelled(self._asking)
        self._sending = _cancelled(self._sending)
        super().connection_lost(exc)
        if self.cycle is not None:  # pyright: ignore[reportUnnecessaryComparison]
            client_left(cast("Scope", self.cycle.scope))

    def eof_received(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Who has said everything and closed that half still gets an answer that has an end, without a wait."""
        if self.cycle is None or self.cycle.more_body or self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            return False
        client_left(cast("Scope", self.cycle.scope))
        return STREAM not in self.cycle.scope.get("state", {})

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        is_idle = before is None or before.response_complete  # pyright: ignore[reportUnnecessaryComparison]
        if is_idle and self._asking is None:
            self._await_head()
        super().data_received(data)
        if self.cycle is not before:
            self._asking = _cancelled(self._asking)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_progress()

    def resume_writing(self) -> None:
        self._sending = _cancelled(self._sending)
        super().resume_writing()

    def _await_head(self) -> None:
        self._asking = self.loop.call_later(self.limits.head_seconds, self.transport.close)

    def _await_progress(self) -> None:
        self._unsent = self.transport.get_write_buffer_size()
        self._sending = self.loop.call_later(self.limits.send_seconds, self._look_again)

    def _look_again(self) -> None:
        """Cut off a receiver that has taken nothing since the last look."""
        if self.transport.get_write_buffer_size() >= self._unsent:
            self.transport.abort()
        else:
            self._await_progress()


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
