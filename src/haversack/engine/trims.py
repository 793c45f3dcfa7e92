"""Important memories that keep being left out for want of room, and the budget that would have carried them.

A count in memory until many have gathered or the store closes; then one small record per memory, which an erasure of
the memory takes along. A caller who asks for a context waits for none of these records; a few at a time are written
now and then, however many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, islice
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from haversack.engine.deferring import DeferredWrites
from haversack.errors import ConflictError, StoreError
from haversack.store.port import Batch, Store, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

if TYPE_CHECKING:
    from haversack.assemble import Candidate, Context

__all__ = ["IMPORTANT", "TALLIES", "TrimLog", "Trimmed", "trimmed"]

IMPORTANT = 0.7
"""From this importance on, being left out is worth a report."""

COLLECTION = "trim"
_MANY = 200
"""Memories that wait before some of them are written down, and the calls between two times."""
_BETWEEN = 32
_AT_ONCE = 50
"""Records of one transaction."""
_MOST = 2_000
"""Memories that wait at the most; others are not counted meanwhile."""
_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How one memory fared when it was a candidate."""

    trimmed: int = 0
    carried: int = 0
    budget: int = 0
    """The last budget that was too small for it; 0 when none was."""
    needed: int = 0
    """The budget that would have carried it then, with everything that scored as much or more."""

    def plus(self, later: Tally) -> Tally:
        """Both together."""
        latest = later if later.budget else self
        return Tally(
            trimmed=self.trimmed + later.trimmed,
            carried=self.carried + later.carried,
            budget=latest.budget,
            needed=latest.needed,
        )


_CARRIED = Tally(carried=1)
TALLIES = Collection(COLLECTION, Tally)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trimmed:
    """One row of the report."""

    memory_id: str
    content: str
    importance: float
    trimmed: int
    carried: int
    budget: int
    needed: int

    @property
    def advice(self) -> str:
        """What helps."""
        return (
            f"raise the budget from {self.budget} to {self.needed} tokens, or its importance above {self.importance:g}"
        )


@dataclass(slots=True)
class TrimLog:
    """What was trimmed and is not in the store yet. Safe for threads."""

    _waiting: dict[str, dict[str, Tally]] = field(default_factory=dict[str, "dict[str, Tally]"])
    _since: int = 0
    """Calls since some were written down."""
    _lock: Lock = field(default_factory=Lock)
    _writes: DeferredWrites = field(default_factory=DeferredWrites)

    def note(self, store: Store, namespace: str, candidates: Sequence[Candidate], context: Context) -> None:
        """Count what became of the important candidates of one context."""
        noted = _tallies(candidates, context)
        if not noted:
            return
        with self._lock:
            waiting = self._waiting.setdefault(namespace, {})
            for name, tally in noted.items():
                before = waiting.get(name)
                if before is not None:
                    waiting[name] = before.plus(tally)
                elif len(waiting) < _MOST:
                    waiting[name] = tally
            self._since += 1
            is_due = len(waiting) >= _MANY and self._since >= _BETWEEN
            if is_due:
                self._since = 0
        if is_due:
            self._writes.soon(namespace, lambda: self._spill_some(store, namespace))

    def wait(self) -> None:
        """Wait until what was due is in the store."""
        self._writes.wait()

    def spill(self, store: Store, namespace: str) -> None:
        """Put what waits into the store; a store that cannot be written now loses these counts and nothing else."""
        self.wait()
        while self._spill_some(store, namespace):
            pass

    def _spill_some(self, store: Store, namespace: str) -> bool:
        """The same for those that wait longest; whether there were any."""
        with self._lock:
            waiting = self._waiting.get(namespace, {})
            some = {name: waiting.pop(name) for name in list(islice(waiting, _AT_ONCE))}
        if some:
            with suppress(StoreError, ConflictError):
                persisting(lambda: _add(store, namespace, some))
        return bool(some)

    def close(self, store: Store) -> None:
        """Spill everything."""
        self._writes.close()
        for namespace in list(self._waiting):
            self.spill(store, namespace)


def trimmed(log: TrimLog, store: Store, namespace: str, least: int = 2) -> list[Trimmed]:
    """Important memories that were left out at least so often, and more often than they were carried; worst first."""
    log.spill(store, namespace)
    worst = {name: tally for name, tally in _stored(store, namespace).items() if least <= tally.trimmed > tally.carried}
    rows = [
        Trimmed(
            memory_id=memory.id,
            content=memory.content,
            importance=memory.importance,
            trimmed=worst[memory.id].trimmed,
            carried=worst[memory.id].carried,
            budget=worst[memory.id].budget,
            needed=worst[memory.id].needed,
        )
        for memory in store.memories(namespace, sorted(worst))
    ]
    return sorted(rows, key=lambda row: (-row.importance * row.trimmed, row.memory_id))


def _add(store: Store, namespace: str, waiting: Mapping[str, Tally]) -> None:
    """Add to what is stored; what was counted of memories that are gone is dropped."""
    there = [memory.id for memory in store.memories(namespace, list(waiting))]
    records = {name: store.record(namespace, COLLECTION, name) for name in there}
    written = (
        Written(
            collection=COLLECTION,
            key=name,
            value=msgspec.json.encode((TALLIES.value_of(before) or Tally()).plus(waiting[name])),
            expected=0 if before is None else before.version,
        )
        for name, before in records.items()
    )
    store.apply(namespace, Batch(records=tuple(written), made_of=tuple(there)))


def _tallies(candidates: Sequence[Candidate], context: Context) -> dict[str, Tally]:
    important = [one for one in candidates if one.memory.importance >= IMPORTANT and one.filtered is None]
    if not important:
        return {}
    carried, needed = frozenset(context.items), _needed(candidates)
    return {
        one.memory.id: _CARRIED
        if one.memory.id in carried
        else Tally(trimmed=1, budget=context.budget, needed=needed[one.score])
        for one in important
    }


def _needed(candidates: Sequence[Candidate]) -> dict[float, int]:
    """By score: the budget that would have carried everything that scored as much or more."""
    prices = Counter[float]()
    for one in candidates:
        if one.filtered is None:
            prices[one.score] += one.price or 0
    scores = sorted(prices, reverse=True)
    return dict(zip(scores, accumulate(prices[score] for score in scores), strict=True))


def _stored(store: Store, namespace: str) -> Mapping[str, Tally]:
    found: dict[str, Tally] = {}
    after = ""
    while page := store.records(namespace, COLLECTION, after=after, limit=_PAGE):
        found |= {record.key: tally for record in page if (tally := TALLIES.value_of(record)) is not None}
        after = page[-1].key
    return found
