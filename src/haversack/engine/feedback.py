"""Feedback: a vote on a memory moves its importance, and every vote is kept.

`up` closes a fifth of the gap to 1, `down` takes a fifth away, `flag` halves: repeated votes never leave 0 to 1, and
one vote never decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain

import msgspec

from haversack.engine.core import Core
from haversack.errors import InputError, NotFoundError, nearest
from haversack.store.port import Batch, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

__all__ = ["VOTES", "Signal", "Vote", "vote", "votes", "votes_by_signal"]

_COLLECTION = "feedback"
_KEPT = 100
_STEP = 0.2


class Signal(StrEnum):
    """What was said of a memory."""

    UP = "up"
    DOWN = "down"
    FLAG = "flag"
    """It looks wrong or harmful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One vote and what it did."""

    signal: Signal
    at: datetime
    before: float
    after: float


VOTES = Collection(_COLLECTION, list[Vote])


def vote(core: Core, namespace: str, memory_id: str, signal: str) -> Vote:
    """Count the vote; the memory's importance moves in the same transaction."""
    if signal not in set(Signal):
        raise InputError(f"unknown signal {signal!r}: {nearest(str(signal), list(Signal))}")
    return persisting(lambda: _vote(core, namespace, memory_id, Signal(signal)))


def _vote(core: Core, namespace: str, memory_id: str, signal: Signal) -> Vote:
    record = core.store.record(namespace, _COLLECTION, memory_id)
    found = core.store.memories(namespace, [memory_id])
    if not found:
        raise NotFoundError(f"no memory {memory_id!r} in namespace {namespace!r}")
    before = found[0].importance
    cast = Vote(signal=signal, at=core.clock(), before=before, after=_moved(before, signal))
    history = VOTES.value_of(record) or []
    written = Written(
        collection=_COLLECTION,
        key=memory_id,
        value=msgspec.json.encode([*history, cast][-_KEPT:]),
        expected=0 if record is None else record.version,
    )
    row = replace(found[0], importance=cast.after)
    core.store.apply(namespace, Batch(memories=(row,), records=(written,), seen=row.changed))
    return cast


def votes(core: Core, namespace: str, memory_id: str) -> list[Vote]:
    """The votes on a memory, oldest first, at most a hundred."""
    record = core.store.record(namespace, _COLLECTION, memory_id)
    return VOTES.value_of(record) or []


def votes_by_signal(core: Core, namespace: str) -> dict[Signal, int]:
    """How many votes of each kind the namespace's memories have."""
    counts = dict.fromkeys(Signal, 0)
    after = ""
    while page := core.store.records(namespace, _COLLECTION, after=after):
        for one in chain.from_iterable(VOTES.values_of(page)):
            counts[one.signal] += 1
        after = page[-1].key
    return counts


def _moved(importance: float, signal: Signal) -> float:
    match signal:
        case Signal.UP:
            moved = importance + (1 - importance) * _STEP
        case Signal.DOWN:
            moved = importance * (1 - _STEP)
        case Signal.FLAG:
            moved = importance / 2
    return round(moved, 6)
