"""The columns of one namespace: what scoring and filters need to know of each memory, one row each, in plain arrays."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from copy import copy
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.model.memory import Kind, Memory, Stage, Trust
from haversack.model.query import is_replaced
from haversack.model.times import micros
from haversack.scoring.cues import mentions_name, mentions_number, mentions_time, states_preference

__all__ = ["FIRST", "KINDS", "LAST", "NOWHERE", "SCHEMA", "WIDE", "Columns", "Flag", "describe", "room", "weight"]

KINDS = list(Kind)
_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_TRUST_CODES = {trust: code for code, trust in enumerate(Trust)}
FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
NOWHERE = -1
_SHORT_QUESTION = 25
_FADED = 0.5
"""What is left of a memory's importance while it counts as decayed: it is still found, behind its equals."""
_READ = 2000
"""Characters of a text that its flags are taken from."""


class Flag(IntFlag):
    """Yes-or-no facts of a row."""

    PRESENT = 1
    """The row still stands for a memory of the store."""
    DELETED = 2
    REPLACED = 4
    """Another memory stands for it at every moment; what ends at a date has that date instead."""
    PINNED = 8
    QUESTION = 16
    """A short text that asks."""
    TIMELY = 32
    """The text says when something is."""
    EMBEDDED = 64
    """Its vector is here; all zero for a text without words."""
    ASKS = 128
    """The text holds a question mark."""
    COUNTS = 256
    """It holds a number."""
    NAMES = 512
    """It holds a capitalised word inside a sentence."""
    PREFERS = 1024
    """It states a preference, a habit or a standing wish."""


SCHEMA: dict[str, tuple[str, int]] = {
    # name: (type, value of an absent row)
    "born": ("i8", 0),
    "time": ("i8", 0),
    "valid_from": ("i8", FIRST),
    "valid_to": ("i8", LAST),
    "digest": ("u8", 0),
    "kind": ("u1", 0),
    "flags": ("u2", 0),
    "trust": ("u1", 0),
    "importance": ("f4", 0),
    "session": ("i4", NOWHERE),
    "speaker": ("i4", NOWHERE),
    "previous": ("i4", NOWHERE),
    "following": ("i4", NOWHERE),
    "length": ("f4", 0),
    "size": ("f4", 0),
    "turn": ("u8", 0),
    "scale": ("f4", 0),
}
WIDE = ("vectors", "residues")
"""Columns of several numbers each."""


class Facts(NamedTuple):
    """What one memory puts into the columns that do not name other rows, by column."""

    born: int
    time: int
    valid_from: int
    valid_to: int
    kind: int
    flags: int
    trust: int
    importance: float


def room(have: int, need: int) -> int:
    """Places that a growing array is given: an eighth more than it has when it must grow."""
    return have if need <= have else max(need, have + have // 8, 64)


def describe(memory: Memory, words: AbstractSet[str]) -> Facts:
    """The facts of a memory; its wording is looked at here, once. `words` are its folded words."""
    ends = [micros(moment) for moment in (memory.valid_to, memory.expires_at) if moment is not None]
    return Facts(
        born=memory.born,
        time=micros(memory.event_time),
        valid_from=FIRST if memory.valid_from is None else micros(memory.valid_from),
        valid_to=min(ends, default=LAST),
        kind=_KIND_CODES[memory.kind],
        flags=_flags(memory, words),
        trust=_TRUST_CODES[memory.trust],
        importance=weight(memory.importance, memory.stage),
    )


def weight(importance: float, stage: Stage) -> float:
    """The importance that a memory has while it is in a stage."""
    return importance * (_FADED if stage is Stage.DECAYED else 1)


def _flags(memory: Memory, words: AbstractSet[str]) -> int:
    content = memory.content.rstrip()
    asks = content.endswith(("?", "？", "؟")) and content.count(" ") < _SHORT_QUESTION
    start = content[:_READ]
    return (
        _PRESENT
        + _DELETED * (memory.stage is Stage.DELETED)
        + _REPLACED * is_replaced(memory)
        + _PINNED * memory.pinned
        + _QUESTION * asks
        + _TIMELY * mentions_time(start, words)
        + _ASKS * ("?" in start or "？" in start)
        + _COUNTS * mentions_number(start, words)
        + _NAMES * mentions_name(start)
        + _PREFERS * states_preference(words)
    )


# plain numbers: the members of an IntFlag add up ten times slower, and this runs once for each memory
_PRESENT, _DELETED, _REPLACED, _PINNED, _QUESTION, _TIMELY, _, _ASKS, _COUNTS, _NAMES, _PREFERS = map(int, Flag)


class Columns:
    """Growing arrays of equal length, one attribute per column of SCHEMA, cut to the rows in use.

    A view shares them: rows may be added behind those that it has, and what changes in one of its own is changed in a
    copy of that column.
    """

    born: NDArray[np.int64]
    time: NDArray[np.int64]
    valid_from: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    digest: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    flags: NDArray[np.uint16]
    trust: NDArray[np.uint8]
    importance: NDArray[np.float32]
    session: NDArray[np.int32]
    speaker: NDArray[np.int32]
    previous: NDArray[np.int32]
    following: NDArray[np.int32]
    length: NDArray[np.float32]
    """In words."""
    size: NDArray[np.float32]
    """In tokens, by a quarter of its bytes."""
    turn: NDArray[np.uint64]
    """Equal for the chunks of one text; 0 for a text that is whole."""
    scale: NDArray[np.float32]
    vectors: NDArray[np.int8]
    residues: NDArray[np.uint8]
    """What `vectors` leave out: see `embed/codec.py`."""

    def __init__(self, dimension: int = 0) -> None:
        self.rows = 0
        self.dimension = dimension
        self._room = 0
        self._shared = set[str]()
        """Columns that a view holds as well."""
        self._shown = 0
        """Rows that views have."""
        self._full: dict[str, NDArray[np.generic]] = {name: np.empty(0, kind) for name, (kind, _) in SCHEMA.items()}
        self._full["vectors"] = np.empty((0, dimension), np.int8)
        self._full["residues"] = np.empty((0, -(-dimension // 2)), np.uint8)
        self._cut()

    def extend(self, count: int) -> int:
        """Add absent rows; returns the first of them."""
        first, self.rows = self.rows, self.rows + count
        if self.rows > self._room:
            self._grow(room(self._room, self.rows))
        for name, (_, absent) in SCHEMA.items():
            self._full[name][first : self.rows] = absent
        for name in WIDE:
            self._full[name][first : self.rows] = 0
        self._cut()
        return first

    def load(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Take over whole columns, as a segment holds them."""
        self.rows = self._room = len(arrays["born"])
        self._full = arrays
        self._cut()

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The columns in use, vectors included, by name."""
        return {name: full[: self.rows] for name, full in self._full.items()}

    def view(self) -> Columns:
        """These rows as they are now, whatever becomes of them here."""
        self._shared, self._shown = set(self._full), self.rows
        return copy(self)

    def release(self) -> None:
        """No view is in use any more."""
        self._shared.clear()

    def at(self, name: str, row: int) -> NDArray[Any]:
        """The column, to be changed at this row or behind it."""
        if row < self._shown and name in self._shared:
            self._shared.discard(name)
            self._full = {**self._full, name: self._full[name].copy()}
            setattr(self, name, self._full[name][: self.rows])
        return getattr(self, name)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(full.nbytes for full in self._full.values())

    def _grow(self, room: int) -> None:
        grown = {name: np.empty((room, *old.shape[1:]), old.dtype) for name, old in self._full.items()}
        for name, old in self._full.items():
            grown[name][: len(old)] = old
        self._full, self._room = grown, room
        self._shared.clear()

    def _cut(self) -> None:
        for name, full in self._full.items():
            setattr(self, name, full[: self.rows])
