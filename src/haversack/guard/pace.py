"""How many requests may come, and how many may be at work at once. No I/O; the clock comes in as an argument."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from haversack.guard.refusal import too_many
from haversack.guard.settings import Limits

__all__ = ["Buckets", "Pace"]

_MOST_NAMES = 10_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Buckets:
    """So much a minute for each name, evenly refilled; as much may come at once. Long unseen names are forgotten."""

    def __init__(self, per_minute: int, *, seconds: int = 60) -> None:
        """`seconds` stand for the minute where another span of time is meant."""
        self.per_minute = per_minute
        self._seconds = seconds
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, name: str, now: float) -> int:
        """Take one for this name; returns what is left, or when there is none, minus the seconds until there is."""
        most = self.per_minute
        bucket = self._buckets.setdefault(name, _Bucket(most, now))
        self._buckets.move_to_end(name)
        if len(self._buckets) > _MOST_NAMES:
            self._buckets.popitem(last=False)
        bucket.tokens = min(most, bucket.tokens + (now - bucket.at) * most / self._seconds)
        bucket.at = now
        if bucket.tokens < 1:
            return -int((1 - bucket.tokens) * self._seconds / most) - 1
        bucket.tokens -= 1
        return int(bucket.tokens)


class _Places:
    """So many may be at work at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.free = asyncio.Semaphore(most)
        self.waiting = 0
        self.holders = 0
        """Who waits or works, where somebody counts them."""


class Pace:
    """The pace of one server. Everything happens on its event loop, so nothing is locked."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._requests = Buckets(limits.key_per_minute)
        self._streams: Counter[str] = Counter()
        self._places = _Places(limits.active)
        self._own: dict[str, _Places] = {}

    def take(self, key: str, now: float) -> tuple[int, int]:
        """Count a request of this key; returns the limit and what is left of it. Refuses by 429."""
        most = self._requests.per_minute
        if not most:
            return 0, 0
        left = self._requests.take(key, now)
        if left < 0:
            raise too_many(f"this key may make {most:,} requests a minute", -left)
        return most, left

    @asynccontextmanager
    async def place(self, key: str) -> AsyncGenerator[None]:
        """A place to work: first among those of the key, then among all. Who waits too long is refused."""
        own = self._own.get(key) or self._own.setdefault(key, _Places(self._limits.key_active))
        own.holders += 1
        try:
            async with (
                self._turn(own, self._limits.key_waiting, f"this key has {own.most} requests at work"),
                self._turn(self._places, self._limits.waiting, "the server is busy"),
            ):
                yield
        finally:
            own.holders -= 1
            if not own.holders:
                del self._own[key]

    @asynccontextmanager
    async def stream(self, key: str) -> AsyncGenerator[None]:
        """A place for an event stream."""
        if self._streams[key] >= self._limits.key_streams:
            raise too_many(f"this key may have {self._limits.key_streams} event streams at once", 5)
        self._streams[key] += 1
        try:
            yield
        finally:
            self._streams[key] -= 1
            if not self._streams[key]:
                del self._streams[key]

    @asynccontextmanager
    async def _turn(self, places: _Places, waiting: int, why: str) -> AsyncGenerator[None]:
        if places.free.locked() and places.waiting >= waiting:
            raise too_many(f"{why}, and too many wait", 1)
        places.waiting += 1
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                await places.free.acquire()
        except TimeoutError:
            raise too_many(why, 1) from None
        finally:
            places.waiting -= 1
        try:
            yield
        finally:
            places.free.release()
