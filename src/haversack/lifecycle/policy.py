"""What a namespace keeps, for how long and how much; and the plan of what lifecycle maintenance would change.

Law: preview and execution are the same value. `plan` returns every transition with its reason and touches nothing;
`carried_out` turns those transitions, and no others, into rows to write. Planning again afterwards, at the same `now`,
gives nothing. The stage that a memory reaches depends on its stored values and `now`, not on how often anybody looked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from haversack.lifecycle.decay import DecayConfig, fades_at, last_used, strength
from haversack.lifecycle.promote import is_promotable
from haversack.lifecycle.ranges import check_range, check_whole
from haversack.model.memory import Kind, Memory, Stage
from haversack.model.times import from_micros, micros

__all__ = [
    "DELETED_AT",
    "Action",
    "DedupPolicy",
    "Eviction",
    "Policy",
    "Transition",
    "carried_out",
    "plan",
    "plan_pages",
    "restored",
    "softly_deleted",
]

DELETED_AT = "haversack.deleted_at"
"""Metadata field of a softly deleted memory: epoch microseconds of the deletion, from which retention counts."""

_STAGE_BEFORE = "haversack.stage_before"
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


_TARGET = {
    Action.PROMOTE: Stage.LONG_TERM,
    Action.DECAY: Stage.DECAYED,
    Action.REVIVE: Stage.ACTIVE,
    Action.DELETE: Stage.DELETED,
}


def plan(
    memories: Iterable[Memory], policy: Policy, now: datetime, connections: Mapping[str, int] | None = None
) -> list[Transition]:
    """Every change that is due at `now`, in the order of the memories, evictions last.

    `connections` counts each memory's links by id; where it says nothing the number of entities stands in.
    """
    due, counted = _judged(memories, policy, now, connections or {})
    evicted = _evictions(counted, policy)
    return [transition for transition in due if transition.memory not in evicted] + list(evicted.values())


def plan_pages(
    pages: Callable[[], Iterable[Sequence[Memory]]],
    policy: Policy,
    now: datetime,
    connections: Mapping[str, int] | None = None,
) -> Iterator[tuple[Sequence[Memory], list[Transition]]]:
    """The same changes page by page, for more memories than fit in hand: each page with its own, evictions included.

    `pages` is called once, or twice where the policy limits the namespace's size.
    """
    links = connections or {}
    evicted: dict[str, Transition] = {}
    if policy.is_limited:
        counted = [standing for page in pages() for standing in _judged(page, policy, now, links)[1]]
        evicted = _evictions(counted, policy)
    for page in pages():
        due, _ = _judged(page, policy, now, links)
        kept = [transition for transition in due if transition.memory not in evicted]
        yield page, kept + [evicted[memory.id] for memory in page if memory.id in evicted]


def carried_out(
    memories: Iterable[Memory], transitions: Sequence[Transition], now: datetime
) -> tuple[tuple[Memory, ...], tuple[str, ...]]:
    """The rows to write and the ids to erase, for exactly these transitions."""
    actions = {transition.memory: transition.action for transition in transitions}
    written = tuple(
        _after(memory, actions[memory.id], now)
        for memory in memories
        if memory.id in actions and actions[memory.id] is not Action.ERASE
    )
    return written, tuple(id_ for id_, action in actions.items() if action is Action.ERASE)


def softly_deleted(memory: Memory, now: datetime) -> Memory:
    """The memory as soft forgetting leaves it: hidden, its former stage kept for `restored`."""
    marks = {DELETED_AT: micros(now), _STAGE_BEFORE: str(memory.stage)}
    return replace(memory, stage=Stage.DELETED, metadata={**memory.metadata, **marks})


def restored(memory: Memory) -> Memory:
    """The inverse of `softly_deleted`; a memory without its marks becomes active."""
    stage = memory.metadata.get(_STAGE_BEFORE, Stage.ACTIVE)
    kept = {key: value for key, value in memory.metadata.items() if key not in (DELETED_AT, _STAGE_BEFORE)}
    return replace(memory, stage=Stage(str(stage)), metadata=kept)


def _after(memory: Memory, action: Action, now: datetime) -> Memory:
    return softly_deleted(memory, now) if action is Action.DELETE else replace(memory, stage=_TARGET[action])


def _due(memory: Memory, policy: Policy, now: datetime, connections: int) -> Transition | None:
    action, reason = _verdict(memory, policy, now, connections)
    if action is None or _TARGET.get(action) is memory.stage:
        return None
    return Transition(memory=memory.id, action=action, reason=reason, strength=strength(memory, now, policy.decay))


def _verdict(memory: Memory, policy: Policy, now: datetime, connections: int) -> tuple[Action | None, str]:
    if memory.stage is Stage.DELETED:
        return (Action.ERASE, "retention") if _retention_over(memory, policy, now) else (None, "")
    if ended := _ended(memory, policy, now):
        return Action.DELETE, ended
    if _is_protected(memory, policy) or memory.stage is Stage.LONG_TERM:
        return None, ""
    if is_promotable(memory, now, policy.decay, connections):
        return Action.PROMOTE, "proven"
    return _faded(memory, policy.decay, now)


def _is_protected(memory: Memory, policy: Policy) -> bool:
    return memory.pinned or memory.superseded_by is not None or memory.kind in policy.protected


def _faded(memory: Memory, config: DecayConfig, now: datetime) -> tuple[Action | None, str]:
    faded = fades_at(memory, config)
    if faded is None or faded > now:
        return (Action.REVIVE, "used_again") if memory.stage is Stage.DECAYED else (None, "")
    if faded + timedelta(days=config.decayed_retention_days) <= now:
        return Action.DELETE, "decayed_retention"
    return Action.DECAY, "faded"


def _ended(memory: Memory, policy: Policy, now: datetime) -> str | None:
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired"
    days = policy.ttl_days.get(memory.kind)
    if days is not None and not memory.pinned and now - memory.created_at >= timedelta(days=days):
        return "ttl"
    return None


def _retention_over(memory: Memory, policy: Policy, now: datetime) -> bool:
    deleted = memory.metadata.get(DELETED_AT)
    since = from_micros(deleted) if isinstance(deleted, int) else last_used(memory)
    return now > since and now - since >= timedelta(days=policy.retention_days)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What evictions need to know of a memory that counts against the limits."""

    order: tuple[float | str, ...]
    memory: str
    characters: int
    strength: float


def _judged(
    memories: Iterable[Memory], policy: Policy, now: datetime, links: Mapping[str, int]
) -> tuple[list[Transition], list[_Standing]]:
    """What is due, and, where the policy has limits, what would stay and counts against them."""
    due: list[Transition] = []
    counted: list[_Standing] = []
    limited = policy.is_limited
    for memory in memories:
        transition = _due(memory, policy, now, links.get(memory.id, len(memory.entities)))
        if transition is not None:
            due.append(transition)
        if not limited or memory.stage is Stage.DELETED or _is_protected(memory, policy):
            continue
        if transition is None or transition.action is not Action.DELETE:
            order = (*(_rank(memory, one, policy, now) for one in policy.eviction), memory.id)
            weak = strength(memory, now, policy.decay)
            counted.append(_Standing(order, memory.id, len(memory.content), weak))
    return due, counted


def _evictions(counted: Sequence[_Standing], policy: Policy) -> dict[str, Transition]:
    over_count = len(counted) - policy.max_memories if policy.max_memories is not None else 0
    characters = sum(standing.characters for standing in counted)
    over_characters = characters - policy.max_characters if policy.max_characters is not None else 0
    evicted: dict[str, Transition] = {}
    if over_count <= 0 and over_characters <= 0:
        return evicted
    for standing in sorted(counted, key=lambda standing: standing.order):
        if len(evicted) >= over_count and over_characters <= 0:
            break
        over_characters -= standing.characters
        evicted[standing.memory] = Transition(
            memory=standing.memory, action=Action.DELETE, reason="over_limit", strength=standing.strength
        )
    return evicted


def _rank(memory: Memory, order: Eviction, policy: Policy, now: datetime) -> float:
    match order:
        case Eviction.WEAKEST:
            return strength(memory, now, policy.decay)
        case Eviction.LEAST_IMPORTANT:
            return memory.importance
        case Eviction.OLDEST:
            return float(micros(memory.created_at))
        case Eviction.LEAST_USED:
            return float(memory.access_count)
