"""What callers may still do this minute, counted in the store, so that servers which share it count together.

A server borrows a share of a name's allowance at a time and spends it without asking again.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

import msgspec

from haversack.engine.core import Core
from haversack.errors import ConflictError
from haversack.store.port import SYSTEM, Batch, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

__all__ = ["ALLOWANCES", "Allowances", "Lent"]

_MINUTE = timedelta(minutes=1)
_SWEPT_AFTER = 64
"""Loans between two looks for allowances that are full again and need not be kept."""
_SWEPT_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """What a server got."""

    granted: int
    left: int
    """What others may still borrow now."""
    seconds: int = 0
    """When nothing was granted: how long until something is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    left: float
    at: datetime


ALLOWANCES = Collection("allowance", _Left)


class Allowances:
    """The allowances of one store's callers; they refill evenly and are full after a minute."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._loans = count(1)

    def lend(self, name: str, most: int, wanted: int) -> Lent:
        """Take up to `wanted` from what this name may do, which is `most` a minute."""
        lent = persisting(lambda: self._lend(name, most, wanted))
        if next(self._loans) % _SWEPT_AFTER == 0:
            self._sweep()
        return lent

    def _lend(self, name: str, most: int, wanted: int) -> Lent:
        key, now = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest(), self._core.clock()
        record = self._core.store.record(SYSTEM, ALLOWANCES.name, key)
        before = ALLOWANCES.value_of(record) or _Left(left=most, at=now)
        left = min(most, before.left + max(now - before.at, timedelta()) / _MINUTE * most)
        granted = min(wanted, int(left))
        if not granted:
            return Lent(granted=0, left=0, seconds=int((1 - left) * 60 / most) + 1)
        value = msgspec.json.encode(_Left(left=left - granted, at=max(now, before.at)))
        version = 0 if record is None else record.version
        written = Written(collection=ALLOWANCES.name, key=key, value=value, expected=version)
        self._core.store.apply(SYSTEM, Batch(records=(written,)))
        return Lent(granted=granted, left=int(left) - granted)

    def _sweep(self) -> None:
        """Drop what is full again, some at a time, from a place that differs from time to time."""
        after, full = self._core.entropy(2).hex(), self._core.clock() - _MINUTE
        records = self._core.store.records(SYSTEM, ALLOWANCES.name, after=after, limit=_SWEPT_AT_ONCE)
        records += self._core.store.records(SYSTEM, ALLOWANCES.name, limit=_SWEPT_AT_ONCE - len(records))
        found = {one.key: one for one in records if (left := ALLOWANCES.value_of(one)) is None or left.at < full}
        old = (
            Written(collection=ALLOWANCES.name, key=name, value=None, expected=one.version)
            for name, one in found.items()
        )
        with suppress(ConflictError):  # one of them is used again
            self._core.store.apply(SYSTEM, Batch(records=tuple(old)))
