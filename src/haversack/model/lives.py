"""Many memories as columns: what ageing asks of each, so that a million of them are judged by arithmetic on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haversack.model.memory import Kind, Memory, Stage
from haversack.model.times import micros

__all__ = [
    "KIND_CODES",
    "NEVER",
    "STAGES",
    "STAGE_CODES",
    "Lives",
    "lives_from",
    "lives_of",
]

NEVER = np.iinfo(np.int64).max
"""Stands for a moment that does not come."""

STAGES = tuple(Stage)
KIND_CODES = {kind.value: code for code, kind in enumerate(Kind)}
STAGE_CODES = {stage.value: code for code, stage in enumerate(Stage)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lives:
    """A column for each fact, all of one length; times are epoch microseconds."""

    ids: Sequence[str]
    changed: NDArray[np.int64]
    kind: NDArray[np.int64]
    """Place in `Kind`."""
    stage: NDArray[np.int64]
    """Place in `Stage`."""
    created_at: NDArray[np.int64]
    used_at: NDArray[np.int64]
    """The last use; the creation where that is later or there was none."""
    expires_at: NDArray[np.int64]
    """NEVER where nothing is said."""
    deleted_at: NDArray[np.int64]
    """Of softly deleted ones; 0 where it was not written down."""
    importance: NDArray[np.float64]
    confidence: NDArray[np.float64]
    uses: NDArray[np.int64]
    links: NDArray[np.int64]
    """Entities that it names."""
    pinned: NDArray[np.bool_]
    superseded: NDArray[np.bool_]
    characters: NDArray[np.int64]
    """Length of the content; may be 0 throughout where nobody asked for it."""

    def __len__(self) -> int:
        return len(self.ids)

    def upto(self, changed: int) -> Lives:
        """Those that were last written at that change number or before; they stand in that order."""
        end = int(np.searchsorted(self.changed, changed, side="right"))
        return self if end == len(self) else Lives(**{name: getattr(self, name)[:end] for name in _NAMES})


_TYPES: dict[str, Any] = {
    "importance": np.float64,
    "confidence": np.float64,
    "pinned": np.bool_,
    "superseded": np.bool_,
}
_NAMES = [item.name for item in fields(Lives)]


def lives_from(rows: Sequence[Sequence[Any]]) -> Lives:
    """The columns of rows whose values stand in the order of the fields of Lives."""
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(_NAMES)
    values = dict(zip(_NAMES[1:], columns[1:], strict=True))
    arrays: dict[str, NDArray[Any]] = {
        name: np.array(column, _TYPES.get(name, np.int64)) for name, column in values.items()
    }
    return Lives(ids=columns[0], **arrays)


def lives_of(memories: Iterable[Memory]) -> Lives:
    """The same of memories in hand."""
    return lives_from([_row(memory) for memory in memories])


def _row(memory: Memory) -> tuple[Any, ...]:
    created = micros(memory.created_at)
    deleted = memory.deleted_at if memory.stage is Stage.DELETED else None
    return (
        memory.id,
        memory.changed,
        KIND_CODES[memory.kind],
        STAGE_CODES[memory.stage],
        created,
        created if memory.accessed_at is None else max(created, micros(memory.accessed_at)),
        NEVER if memory.expires_at is None else micros(memory.expires_at),
        0 if deleted is None else micros(deleted),
        memory.importance,
        memory.confidence,
        memory.access_count,
        len(memory.entities),
        memory.pinned,
        memory.superseded_by is not None,
        len(memory.content),
    )
