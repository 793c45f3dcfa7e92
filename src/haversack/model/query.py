"""What is asked of a namespace: a filter that every read honours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from haversack.model.memory import Json, Kind, Memory, Stage

__all__ = ["Filter", "is_replaced"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories may answer. Every given condition must hold; an empty filter lets all live memories pass."""

    kinds: frozenset[Kind] | None = None
    tags: frozenset[str] = frozenset()
    """All of these tags."""
    session: str | None = None
    since: datetime | None = None
    """`event_time` at or after."""
    until: datetime | None = None
    """`event_time` before."""
    where: tuple[tuple[str, Json], ...] = ()
    """Metadata fields that must equal these values."""
    as_of: datetime | None = None
    """Validity is judged at this moment instead of now."""

    def reason_against(self, memory: Memory, now: datetime) -> str | None:
        """The code of the first condition that the memory fails, or None when it passes.

        Codes, in this order: `deleted`, `superseded`, `expired`, `not_yet_valid`, `no_longer_valid`, `kind`, `tags`,
        `session`, `time`, `metadata`.
        """
        return _life(memory, self.as_of or now) or self.unmet_by(memory)

    def unmet_by(self, memory: Memory) -> str | None:
        """The code of the first stated condition that the memory fails, whatever its stage and validity."""
        failed = {
            "kind": self.kinds is not None and memory.kind not in self.kinds,
            "tags": not self.tags <= set(memory.tags),
            "session": self.session is not None and memory.source.session != self.session,
            "time": (self.since is not None and memory.event_time < self.since)
            or (self.until is not None and memory.event_time >= self.until),
            "metadata": not all(_holds(memory.metadata, key, value) for key, value in self.where),
        }
        return next((code for code, holds in failed.items() if holds), None)


def _holds(metadata: Mapping[str, Json], key: str, value: Json) -> bool:
    """JSON equality: `true` is not 1, and an absent field is not null."""
    return key in metadata and metadata[key] == value and isinstance(metadata[key], bool) is isinstance(value, bool)


def is_replaced(memory: Memory) -> bool:
    """Return whether another memory stands for this one at every moment, not only from the date on that ends it."""
    return memory.superseded_by is not None and (memory.valid_to is None or memory.duplicate_of is not None)


def _life(memory: Memory, moment: datetime) -> str | None:
    ended = memory.valid_to is not None and memory.valid_to <= moment
    if memory.stage is Stage.DELETED:
        return "deleted"
    if is_replaced(memory) or (ended and memory.superseded_by is not None):
        return "superseded"
    if memory.expires_at is not None and memory.expires_at <= moment:
        return "expired"
    if memory.valid_from is not None and memory.valid_from > moment:
        return "not_yet_valid"
    return "no_longer_valid" if ended else None
