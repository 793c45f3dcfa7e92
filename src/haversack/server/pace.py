"""How many requests may come, and how many may be at work at once. No I/O; the clock comes in as an argument."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from haversack.server.problem import Refused
from haversack.server.settings import Limits

__all__ = ["Pace"]

_KEYS = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Pace:
    """The pace of one server. Everything happens on its event loop, so nothing is locked."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._at_work: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()
        self._places = asyncio.Semaphore(limits.active)
        self._waiting = 0

    def take(self, key: str, now: float) -> tuple[int, int]:
        """Count a request of this key; returns the limit and what is left of it. Refuses by 429."""
        most = self._limits.key_per_minute
        if not most:
            return 0, 0
        bucket = self._buckets.setdefault(key, _Bucket(most, now))
        self._buckets.move_to_end(key)
        if len(self._buckets) > _KEYS:
            self._buckets.popitem(last=False)
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at) * most / 60)
        bucket.at = now
        if bucket.tokens < 1:
            wait = int((1 - bucket.tokens) * 60 / most) + 1
            raise _too_many(f"this key may make {most:,} requests a minute", wait)
        bucket.tokens -= 1
        return most, int(bucket.tokens)

    @asynccontextmanager
    async def place(self, key: str) -> AsyncGenerator[None]:
        """A place to work; waits a little when all are taken, and refuses when too many wait already."""
        if self._at_work[key] >= self._limits.key_active:
            raise _too_many(f"this key may have {self._limits.key_active} requests at work at once", 1)
        self._at_work[key] += 1
        try:
            await self._enter()
            try:
                yield
            finally:
                self._places.release()
        finally:
            _less(self._at_work, key)

    @asynccontextmanager
    async def stream(self, key: str) -> AsyncGenerator[None]:
        """A place for an event stream."""
        if self._streams[key] >= self._limits.key_streams:
            raise _too_many(f"this key may have {self._limits.key_streams} event streams at once", 5)
        self._streams[key] += 1
        try:
            yield
        finally:
            _less(self._streams, key)

    async def _enter(self) -> None:
        if self._places.locked() and self._waiting >= self._limits.waiting:
            raise _too_many("the server is busy and its queue is full", 1)
        self._waiting += 1
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                await self._places.acquire()
        except TimeoutError:
            raise _too_many("the server is busy", 1) from None
        finally:
            self._waiting -= 1


def _less(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]


def _too_many(why: str, wait: int) -> Refused:
    return Refused(429, "RATE_LIMIT_EXCEEDED", f"{why}; try again in {wait} s", headers={"retry-after": str(wait)})
