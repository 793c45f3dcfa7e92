"""Stays: who came in through a door with a cookie. Every process that shares the store knows them, and ends them.

A stay is a record under a hash of the cookie's value, so that reading the store lets nobody in. It is not about a
memory and holds no words.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock

import msgspec

from haversack.engine.core import Core
from haversack.errors import ConflictError, ReadOnlyError
from haversack.store.port import SYSTEM, Batch, Written
from haversack.store.records import Collection

__all__ = ["STAYS", "Stay", "Stays"]

_LONGEST_PAUSE = timedelta(hours=12)
_LONGEST = timedelta(hours=24)
"""However busy it is: then the visitor comes in again."""
_NOTED = timedelta(minutes=10)
"""How often it is written down at most that a stay goes on."""
_MOST = 1_000
_MARK = "stay-mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """One stay as it stands."""

    key: str
    """The id of the key that opened it, or what stands for nobody's."""
    way: str
    """How its visitor came in."""
    begun: datetime
    seen: datetime

    def lasts(self, now: datetime) -> bool:
        """Whether it goes on at this moment."""
        return now - self.seen <= _LONGEST_PAUSE and now - self.begun <= _LONGEST


STAYS = Collection("stay", Stay)


class Stays:
    """The stays of one store. What a store that can only be read must not keep, this process does."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._own: dict[str, Stay] = {}
        self._lock = Lock()

    @cached_property
    def mark(self) -> str:
        """What tells this store's cookies from another one's: browsers share them between the ports of a machine."""
        fresh = self._core.entropy(4).hex()
        with suppress(ConflictError, ReadOnlyError):
            mark = Written(collection=_MARK, key=_MARK, value=fresh.encode(), expected=0)
            self._core.store.apply(SYSTEM, Batch(records=(mark,)))
        found = self._core.store.record(SYSTEM, _MARK, _MARK)
        return fresh if found is None else found.value.decode()

    def begin(self, cookie: str, key: str, way: str, now: datetime, *, here: bool = False) -> None:
        """Let whoever brings this cookie stay; `here` in this process alone. Those longest away make room."""
        stay = Stay(key=key, way=way, begun=now, seen=now)
        if not here:
            with suppress(ReadOnlyError):
                self._put(_written(cookie, stay), *self._over(now))
                return
        with self._lock:
            while len(self._own) >= _MOST:
                del self._own[min(self._own, key=lambda name: self._own[name].seen)]
            self._own[_name(cookie)] = stay

    def find(self, cookie: str, now: datetime) -> Stay | None:
        """Return the stay of this cookie, if it goes on, and note that it does."""
        name = _name(cookie)
        with self._lock:
            stay = self._own.get(name)
            if stay is not None and stay.lasts(now):
                self._own[name] = replace(stay, seen=now)
        if stay is None:
            record = self._core.store.record(SYSTEM, STAYS.name, name)
            stay, version = STAYS.value_of(record), 0 if record is None else record.version
            if stay is not None and stay.lasts(now) and now - stay.seen > _NOTED:
                with suppress(ConflictError, ReadOnlyError):  # it was ended or noted by somebody else
                    self._put(_written(cookie, replace(stay, seen=now), expected=version))
        return stay if stay is not None and stay.lasts(now) else None

    def end(self, cookie: str) -> None:
        """End it, everywhere."""
        with self._lock:
            is_own = self._own.pop(_name(cookie), None) is not None
        if not is_own:
            with suppress(ReadOnlyError):
                self._put(Written(collection=STAYS.name, key=_name(cookie), value=None))

    def _over(self, now: datetime) -> list[Written]:
        """Deletions of stays that are over, and of those longest away where there are too many."""
        records = self._core.store.records(SYSTEM, STAYS.name, limit=2 * _MOST)
        stays = {record.key: stay for record in records if (stay := STAYS.value_of(record)) is not None}
        lasting = sorted((name for name, stay in stays.items() if stay.lasts(now)), key=lambda name: stays[name].seen)
        kept = set(lasting[max(0, len(lasting) - _MOST + 1) :])
        return [Written(collection=STAYS.name, key=one.key, value=None) for one in records if one.key not in kept]

    def _put(self, *records: Written) -> None:
        self._core.store.apply(SYSTEM, Batch(records=records))


def _name(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


def _written(cookie: str, stay: Stay, *, expected: int = 0) -> Written:
    return Written(collection=STAYS.name, key=_name(cookie), value=msgspec.json.encode(stay), expected=expected)
