"""Doing the engine's work in the store's threads: many reads at once, writes in their order."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from haversack.engine.haversack import Haversack
from haversack.errors import StoreError

__all__ = ["Work"]

_Result = TypeVar("_Result")
Beat = Callable[[float], Awaitable[None]]
"""Told the seconds that a call has been at work."""

_FLUSH_SECONDS = 5.0


class Work:
    """The calls of one server. A cancelled call that waits never begins; one at work ends, and nobody is told."""

    def __init__(self, sack: Haversack, *, beat_seconds: float = 1.0) -> None:
        self._sack = sack
        self._beat_seconds = beat_seconds
        self._calls = set[concurrent.futures.Future[Any]]()
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Write the audit now and then; at the end, wait for what is at work and drop what has not begun."""
        flushing = asyncio.create_task(self._flush())
        try:
            yield
        finally:
            flushing.cancel()
            begun = {call for call in self._calls.copy() if not call.cancel()}
            concurrent.futures.wait(begun)

    async def read(self, act: Callable[[], _Result], beat: Beat) -> _Result:
        """Do it now, beside whatever else is done."""
        return await self._do(act, beat)

    async def write(self, namespace: str, act: Callable[[], _Result], beat: Beat) -> _Result:
        """Do it after all earlier writes to this namespace, so that of two to one memory the later one wins."""
        turn = self._order.setdefault(namespace, asyncio.Lock())
        async with turn:
            return await self._do(act, beat)

    async def _do(self, act: Callable[[], _Result], beat: Beat) -> _Result:
        call = self._sack.threads.submit(act)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        future = asyncio.wrap_future(call)
        seconds = 0.0
        try:
            while not (await asyncio.wait({future}, timeout=self._beat_seconds))[0]:
                seconds += self._beat_seconds
                await beat(seconds)
            return future.result()
        finally:
            future.cancel()

    async def _flush(self) -> None:
        """The audit and the use of keys, every few seconds; a store that is busy gets them the next time."""
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            for flush in (self._sack.audit.flush, self._sack.keys.flush):
                with suppress(StoreError):
                    await self._sack.threads.run(flush)
