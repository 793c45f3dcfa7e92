"""Uses of memories: noted in memory, spilled into a journal, counted into the rows once.

Reading stays cheap: a use is a number in a dictionary until a few hundred have gathered or a minute has passed. Then
they become one journal record, which no caller waits for. Counting them into the rows (`flush`) takes the journal's
records away in the same transaction, so each is counted once, whatever dies when. A process that dies loses at most
what it had not spilled. Ranking does not look at uses; they matter to the lifecycle alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Protocol

import msgspec

from haversack.engine.deferring import DeferredWrites
from haversack.errors import BusyError, ConflictError, StoreError
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.model.memory import Memory
from haversack.store.port import Batch, Record, Store, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

__all__ = ["USES", "AccessLog", "Opened", "Use", "drop", "flush"]

COLLECTION = "access"
_MOST = 500
_LONGEST = timedelta(minutes=1)
_PAGE = 100
_TRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How often a memory was used, and when last."""

    count: int
    last: datetime


USES = Collection(COLLECTION, dict[str, Use])


class Opened(Protocol):
    """What of an open store the counting of uses needs."""

    @property
    def store(self) -> Store:
        """Where the journal is."""
        ...

    @property
    def entropy(self) -> Callable[[int], bytes]:
        """So many random bytes."""
        ...

    @property
    def access(self) -> AccessLog:
        """What is not in the journal yet."""
        ...


@dataclass(slots=True)
class _Waiting:
    since: datetime
    uses: dict[str, Use] = field(default_factory=dict[str, Use])


class AccessLog:
    """What was used and is not in the journal yet. Safe for threads."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._lock = Lock()
        self._writes = DeferredWrites()

    def note(self, core: Opened, namespace: str, ids: Iterable[str], at: datetime) -> None:
        """Count one use of each; now and then one small record is written soon after."""
        with self._lock:
            waiting = self._waiting.setdefault(namespace, _Waiting(since=at))
            for name in ids:
                waiting.uses[name] = _more(waiting.uses.get(name), Use(count=1, last=at))
            full = len(waiting.uses) >= _MOST or at - waiting.since >= _LONGEST
        if full:
            self._writes.soon(namespace, lambda: self._try_to_spill(core, namespace))

    def wait(self) -> None:
        """Wait until what was due is in the journal."""
        self._writes.wait()

    def spill(self, core: Opened, namespace: str) -> None:
        """Put what waits into the journal; when the store is busy, it goes on waiting."""
        self.wait()
        self._spill(core, namespace)

    def _try_to_spill(self, core: Opened, namespace: str) -> None:
        with suppress(StoreError, ConflictError):  # a store that cannot be written now is still read from
            self._spill(core, namespace)

    def _spill(self, core: Opened, namespace: str) -> None:
        with self._lock:
            waiting = self._waiting.pop(namespace, None)
        if waiting is None or not waiting.uses:
            return
        try:
            persisting(lambda: _journal(core, namespace, waiting.uses, waiting.since))
        except (BusyError, ConflictError):
            with self._lock:
                later = self._waiting.setdefault(namespace, waiting)
                if later is not waiting:
                    later.since = waiting.since
                    for name, use in waiting.uses.items():
                        later.uses[name] = _more(later.uses.get(name), use)
            raise

    def close(self, core: Opened) -> None:
        """Spill everything that can be."""
        self._writes.close()
        for namespace in list(self._waiting):
            self._try_to_spill(core, namespace)

    def forget(self, namespace: str, ids: Iterable[str]) -> None:
        """Drop what waits about memories that are gone."""
        with self._lock:
            if (waiting := self._waiting.get(namespace)) is not None:
                for name in ids:
                    waiting.uses.pop(name, None)


def flush(core: Opened, namespace: str) -> int:
    """Count the journal into the rows; returns how many uses were counted."""
    core.access.spill(core, namespace)
    counted = failures = 0
    while page := core.store.records(namespace, COLLECTION, limit=_PAGE):
        try:
            counted += _count(core, namespace, page)
        except ConflictError:
            failures += 1  # somebody changed a memory, or counted these records, in between
            if failures == _TRIES:
                raise
    return counted


def drop(core: Opened, namespace: str, ids: Sequence[str]) -> None:
    """Take memories that were erased out of the buffer and the journal."""
    core.access.forget(namespace, ids)
    persisting(lambda: _clean(core, namespace, set(ids)))


def _clean(core: Opened, namespace: str, gone: set[str]) -> None:
    after, is_last = "", False
    while not is_last and (page := core.store.records(namespace, COLLECTION, after=after, limit=_PAGE)):
        after, is_last = page[-1].key, len(page) < _PAGE
        cleaned = tuple(_without(record, gone) for record in page if gone & _uses(record).keys())
        if cleaned:
            core.store.apply(namespace, Batch(records=cleaned))


def _journal(core: Opened, namespace: str, uses: Mapping[str, Use], at: datetime) -> None:
    """One record; what was used and is gone since is left out. Seldom anything is: only then the rows are read."""
    try:
        _write(core, namespace, uses, at)
    except ConflictError:
        there = [memory.id for memory in core.store.memories(namespace, list(uses))]
        if there:
            _write(core, namespace, {name: uses[name] for name in there}, at)


def _write(core: Opened, namespace: str, uses: Mapping[str, Use], at: datetime) -> None:
    key = make_id(at, core.entropy(ENTROPY_BYTES))
    record = Written(collection=COLLECTION, key=key, value=msgspec.json.encode(uses), expected=0)
    core.store.apply(namespace, Batch(records=(record,), made_of=tuple(uses)))


def _count(core: Opened, namespace: str, page: Sequence[Record]) -> int:
    uses: dict[str, Use] = {}
    for record in page:
        for name, use in _uses(record).items():
            uses[name] = _more(uses.get(name), use)
    rows = core.store.memories(namespace, list(uses))
    seen = max((memory.changed for memory in rows), default=0)
    done = tuple(Written(collection=COLLECTION, key=record.key, value=None, expected=record.version) for record in page)
    used = tuple(_used(memory, uses[memory.id]) for memory in rows)
    core.store.apply(namespace, Batch(memories=used, records=done, seen=seen))
    return sum(uses[memory.id].count for memory in rows)


def _used(memory: Memory, use: Use) -> Memory:
    last = use.last if memory.accessed_at is None else max(memory.accessed_at, use.last)
    return replace(memory, access_count=memory.access_count + use.count, accessed_at=last)


def _more(one: Use | None, other: Use) -> Use:
    if one is None:
        return other
    return Use(count=one.count + other.count, last=max(one.last, other.last))


def _uses(record: Record) -> dict[str, Use]:
    return USES.value_of(record) or {}


def _without(record: Record, gone: set[str]) -> Written:
    kept = {name: use for name, use in _uses(record).items() if name not in gone}
    value = msgspec.json.encode(kept) if kept else None
    return Written(collection=COLLECTION, key=record.key, value=value, expected=record.version)
