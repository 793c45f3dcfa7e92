"""The columns of one namespace: what scoring and filters need to know of each memory, one row each, in plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from haversack.model.memory import Kind, Memory, Stage, Trust
from haversack.model.times import micros
from haversack.scoring.temporal import mentions_time

__all__ = ["FIRST", "KINDS", "LAST", "NOWHERE", "SCHEMA", "Columns", "Flag", "describe"]

KINDS = list(Kind)
_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_TRUST_CODES = {trust: code for code, trust in enumerate(Trust)}
FIRST, LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
NOWHERE = -1
_SHORT_QUESTION = 25


class Flag(IntFlag):
    """Yes-or-no facts of a row."""

    PRESENT = 1
    """The row still stands for a memory of the store."""
    DELETED = 2
    SUPERSEDED = 4
    PINNED = 8
    QUESTION = 16
    """A short text that asks."""
    TIMELY = 32
    """The text says when something is."""
    EMBEDDED = 64
    """Its vector is here; all zero for a text without words."""


SCHEMA: dict[str, tuple[str, int]] = {
    # name: (type, value of an absent row)
    "born": ("i8", 0),
    "time": ("i8", 0),
    "valid_from": ("i8", FIRST),
    "valid_to": ("i8", LAST),
    "digest": ("u8", 0),
    "kind": ("u1", 0),
    "flags": ("u1", 0),
    "trust": ("u1", 0),
    "importance": ("f4", 0),
    "session": ("i4", NOWHERE),
    "speaker": ("i4", NOWHERE),
    "previous": ("i4", NOWHERE),
    "following": ("i4", NOWHERE),
    "length": ("f4", 0),
    "scale": ("f4", 0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one memory puts into the columns that do not name other rows."""

    born: int
    time: int
    valid_from: int
    valid_to: int
    kind: int
    flags: int
    trust: int
    importance: float


def describe(memory: Memory) -> Facts:
    """The facts of a memory; the words behind QUESTION and TIMELY are looked at here, once."""
    ends = [micros(moment) for moment in (memory.valid_to, memory.expires_at) if moment is not None]
    return Facts(
        born=memory.born,
        time=micros(memory.event_time),
        valid_from=FIRST if memory.valid_from is None else micros(memory.valid_from),
        valid_to=min(ends, default=LAST),
        kind=_KIND_CODES[memory.kind],
        flags=_flags(memory),
        trust=_TRUST_CODES[memory.trust],
        importance=memory.importance,
    )


def _flags(memory: Memory) -> int:
    content = memory.content.rstrip()
    asks = content.endswith(("?", "？", "؟")) and content.count(" ") < _SHORT_QUESTION
    return (
        Flag.PRESENT
        | (Flag.DELETED if memory.stage is Stage.DELETED else 0)
        | (Flag.SUPERSEDED if memory.superseded_by is not None else 0)
        | (Flag.PINNED if memory.pinned else 0)
        | (Flag.QUESTION if asks else 0)
        | (Flag.TIMELY if mentions_time(content[:2000]) else 0)
    )


class Columns:
    """Growing arrays of equal length, one attribute per column of SCHEMA, cut to the rows in use."""

    born: NDArray[np.int64]
    time: NDArray[np.int64]
    valid_from: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    digest: NDArray[np.uint64]
    kind: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    trust: NDArray[np.uint8]
    importance: NDArray[np.float32]
    session: NDArray[np.int32]
    speaker: NDArray[np.int32]
    previous: NDArray[np.int32]
    following: NDArray[np.int32]
    length: NDArray[np.float32]
    scale: NDArray[np.float32]
    vectors: NDArray[np.int8]

    def __init__(self, dimension: int = 0) -> None:
        self.rows = 0
        self.dimension = dimension
        self._room = 0
        self._full: dict[str, NDArray[np.generic]] = {name: np.empty(0, kind) for name, (kind, _) in SCHEMA.items()}
        self._full["vectors"] = np.empty((0, dimension), np.int8)
        self._cut()

    def extend(self, count: int) -> int:
        """Add absent rows; returns the first of them."""
        first, self.rows = self.rows, self.rows + count
        if self.rows > self._room:
            self._grow(max(self.rows, self._room + self._room // 2, 1024))
        for name, (_, absent) in SCHEMA.items():
            self._full[name][first : self.rows] = absent
        self._full["vectors"][first : self.rows] = 0
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

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(full.nbytes for full in self._full.values())

    def _grow(self, room: int) -> None:
        for name, old in self._full.items():
            new = np.empty((room, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            self._full[name] = new
        self._room = room

    def _cut(self) -> None:
        for name, full in self._full.items():
            setattr(self, name, full[: self.rows])
