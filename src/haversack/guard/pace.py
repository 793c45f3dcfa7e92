"""How many requests may come, and how many may be at work at once. The clock comes in as an argument.

What a key may do in a minute is shared by all servers of a store, where they are told how to borrow of it. Places to
work are each server's own: they keep it from being overwhelmed, whatever the others do.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import TypeAlias

from haversack.engine.allowances import Lent
from haversack.errors import ConflictError, StoreError
from haversack.guard.refusal import Refused, too_many
from haversack.guard.settings import Limits

__all__ = ["Borrow", "Buckets", "Pace"]

Borrow: TypeAlias = "Callable[[str, int, int], Awaitable[Lent]]"
"""Takes of a name's allowance in the store: how much it is in a minute, and how much is wanted of it."""

_MOST_NAMES = 10_000
_SHARE = 50
"""The part of a minute's allowance that is borrowed at a time."""


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


@dataclass(slots=True)
class _Purse:
    """What this server has borrowed of a key's allowance."""

    coins: int = 0
    left: int = 0
    """What the store had left at that time."""
    empty_until: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Places:
    """So many may be at work at once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.free = asyncio.Semaphore(most)
        self.waiting = 0
        self.holders = 0
        """Who waits or works, where somebody counts them."""
        self.has_refused = False
        """Whether somebody was refused since a place was last taken."""

    def refuse(self, why: str) -> Refused:
        """The answer to who gets no place."""
        self.has_refused = True
        return too_many(why, 1)


class Pace:
    """The pace of one server. Everything happens on its event loop, so nothing is locked."""

    def __init__(self, limits: Limits, borrow: Borrow | None = None) -> None:
        self._limits = limits
        self._borrow = borrow
        self._purses: OrderedDict[str, _Purse] = OrderedDict()
        self._requests = Buckets(limits.key_per_minute)
        self._streams: Counter[str] = Counter()
        self._exports: Counter[str] = Counter()
        self._places = _Places(limits.active)
        self._export_places = _Places(limits.exports)
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

    async def admit(self, key: str, now: float) -> tuple[int, int]:
        """Count a request of this key together with the other servers'; alone where the store cannot be asked."""
        most = self._requests.per_minute
        if self._borrow is None or not most:
            return self.take(key, now)
        purse = self._purses.setdefault(key, _Purse())
        self._purses.move_to_end(key)
        if len(self._purses) > _MOST_NAMES:
            self._purses.popitem(last=False)
        async with purse.lock:
            if not purse.coins and now >= purse.empty_until:
                try:
                    lent = await self._borrow(key, most, max(1, most // _SHARE))
                except (StoreError, ConflictError):
                    return self.take(key, now)
                purse.coins, purse.left, purse.empty_until = lent.granted, lent.left, now + lent.seconds
            if not purse.coins:
                raise too_many(f"this key may make {most:,} requests a minute", max(1, ceil(purse.empty_until - now)))
            purse.coins -= 1
            return most, purse.left + purse.coins

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

    @property
    def is_busy(self) -> bool:
        """Whether all places are taken and the last one who asked for one was refused."""
        return self._places.free.locked() and self._places.has_refused

    @asynccontextmanager
    async def stream(self, key: str) -> AsyncGenerator[None]:
        """A place for an event stream."""
        async with _counted(self._streams, key, self._limits.key_streams, "event streams"):
            yield

    @asynccontextmanager
    async def export(self, key: str) -> AsyncGenerator[None]:
        """A place for an export, which lasts for as long as its receiver takes."""
        async with (
            _counted(self._exports, key, self._limits.key_exports, "exports"),
            self._turn(self._export_places, self._limits.waiting, "too many exports are under way"),
        ):
            yield

    @asynccontextmanager
    async def _turn(self, places: _Places, waiting: int, why: str) -> AsyncGenerator[None]:
        if places.free.locked() and places.waiting >= waiting:
            raise places.refuse(f"{why}, and too many wait")
        places.waiting += 1
        try:
            async with asyncio.timeout(self._limits.wait_seconds):
                await places.free.acquire()
            places.has_refused = False
        except TimeoutError:
            raise places.refuse(why) from None
        finally:
            places.waiting -= 1
        try:
            yield
        finally:
            places.free.release()


@asynccontextmanager
async def _counted(counts: Counter[str], key: str, most: int, what: str) -> AsyncGenerator[None]:
    """One of so many that a key may have at once; nobody waits for it."""
    if counts[key] >= most:
        raise too_many(f"this key may have {most} {what} at once", 5)
    counts[key] += 1
    try:
        yield
    finally:
        counts[key] -= 1
        if not counts[key]:
            del counts[key]
