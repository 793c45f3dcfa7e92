"""Doing the engine's work in threads, so that the protocol stays awake: many reads at once, writes in their order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TypeVar
from weakref import WeakValueDictionary

from haversack.engine.haversack import Haversack
from haversack.errors import StoreError

__all__ = ["Work"]

_Result = TypeVar("_Result")
Beat = Callable[[float], Awaitable[None]]
"""Told the seconds that a call has been at work."""

_THREADS = 8
_FLUSH_SECONDS = 5.0


class Work:
    """The threads of one server. A cancelled call that waits never begins; one at work ends, and nobody is told."""

    def __init__(self, sack: Haversack, *, beat_seconds: float = 1.0) -> None:
        self._sack = sack
        self._beat_seconds = beat_seconds
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="haversack-mcp")
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Write the audit now and then; at the end, wait for what is at work and drop what has not begun."""
        flushing = asyncio.create_task(self._flush())
        try:
            yield
        finally:
            flushing.cancel()
            self._pool.shutdown(wait=True, cancel_futures=True)

    async def read(self, act: Callable[[], _Result], beat: Beat) -> _Result:
        """Do it now, beside whatever else is done."""
        return await self._do(act, beat)

    async def write(self, namespace: str, act: Callable[[], _Result], beat: Beat) -> _Result:
        """Do it after all earlier writes to this namespace, so that of two to one memory the later one wins."""
        turn = self._order.setdefault(namespace, asyncio.Lock())
        async with turn:
            return await self._do(act, beat)

    async def _do(self, act: Callable[[], _Result], beat: Beat) -> _Result:
        future = asyncio.wrap_future(self._pool.submit(act))
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
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            for flush in (self._sack.audit.flush, self._sack.keys.flush):
                with suppress(StoreError):
                    await loop.run_in_executor(self._pool, flush)
