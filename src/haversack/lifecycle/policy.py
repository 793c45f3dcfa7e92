"""What a namespace keeps, for how long and how much: its rules, and the changes that they can ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from haversack.lifecycle.decay import DecayConfig
from haversack.lifecycle.ranges import check_range, check_whole
from haversack.model.memory import Kind, Memory, Stage

__all__ = [
    "TARGET",
    "Action",
    "DedupPolicy",
    "Eviction",
    "Policy",
    "Transition",
    "restored",
    "softly_deleted",
]

_NO_TTL: Mapping[Kind, float] = MappingProxyType({})


class Eviction(StrEnum):
    """What leaves first when a namespace is over its limits."""

    WEAKEST = "weakest"
    LEAST_IMPORTANT = "least_important"
    OLDEST = "oldest"
    LEAST_USED = "least_used"


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupPolicy:
    """When two statements count as one."""

    enabled: bool = True
    similarity: float = 0.90
    """Cosine from which two wordings may be one statement; entities, numbers, negation, time still keep them apart."""
    check_newest: int = 50
    """How many of the newest memories of a kind are compared with each other when maintenance looks for duplicates."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        check_range("similarity", self.similarity, 0, 1, open_low=True)
        check_whole("check_newest", self.check_newest, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one namespace."""

    decay: DecayConfig = field(default_factory=DecayConfig)
    dedup: DedupPolicy = field(default_factory=DedupPolicy)
    keep: frozenset[Kind] | None = None
    """Kinds that extraction may write; None allows all."""
    protected: frozenset[Kind] = frozenset({Kind.PASSAGE, Kind.SUMMARY, Kind.CORRECTION})
    """Kinds that never decay and are never evicted; nor do pinned and superseded memories (the latter are history).
    A time to live still ends those that are not pinned."""
    ttl_days: Mapping[Kind, float] = field(default_factory=lambda: _NO_TTL)
    """Days from creation after which memories of a kind end."""
    retention_days: float = 30
    """How long softly deleted memories can be restored before they are erased."""
    max_memories: int | None = None
    """Live memories that are not protected."""
    max_characters: int | None = None
    """Characters of content in live memories that are not protected."""
    eviction: tuple[Eviction, ...] = (Eviction.WEAKEST, Eviction.OLDEST)
    """The first order decides, the next ones break its ties."""

    @property
    def is_limited(self) -> bool:
        """Whether the namespace may only hold so much."""
        return self.max_memories is not None or self.max_characters is not None

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        check_range("retention_days", self.retention_days, 0)
        for kind, days in self.ttl_days.items():
            check_range(f"ttl_days.{kind}", days, 0, open_low=True)
        for name in ("max_memories", "max_characters"):
            if (limit := getattr(self, name)) is not None:
                check_whole(name, limit, 0)


class Action(StrEnum):
    """What happens to a memory."""

    PROMOTE = "promote"
    DECAY = "decay"
    REVIVE = "revive"
    """A decayed memory was used and is active again."""
    DELETE = "delete"
    """Softly: it can be restored until retention ends."""
    ERASE = "erase"
    """For good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One planned change."""

    memory: str
    action: Action
    reason: str
    """Code: `proven`, `faded`, `used_again`, `decayed_retention`, `ttl`, `expired`, `retention`, `over_limit`."""
    strength: float
    """At the time of planning."""


TARGET = {
    Action.PROMOTE: Stage.LONG_TERM,
    Action.DECAY: Stage.DECAYED,
    Action.REVIVE: Stage.ACTIVE,
    Action.DELETE: Stage.DELETED,
}
"""The stage that each action leads to."""


def softly_deleted(memory: Memory, now: datetime) -> Memory:
    """The memory as soft forgetting leaves it: hidden, its former stage kept for `restored`."""
    return replace(memory, stage=Stage.DELETED, deleted_at=now, stage_before=memory.stage)


def restored(memory: Memory) -> Memory:
    """The inverse of `softly_deleted`; a memory without its marks becomes active."""
    return replace(memory, stage=memory.stage_before or Stage.ACTIVE, deleted_at=None, stage_before=None)
