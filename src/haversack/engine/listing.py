"""Memories without a question: page by page, and those to begin a conversation with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from haversack.engine.core import Core
from haversack.errors import InputError
from haversack.model.memory import Memory
from haversack.model.query import Filter
from haversack.model.times import EPOCH

__all__ = [
    "Page",
    "Timeline",
    "embed_rest",
    "live",
    "page",
    "reembed",
    "timeline",
    "unembedded",
    "wake_up",
]

_MOST = 1_000
_BATCH = 256
"""Memories that are embedded in one transaction while somebody waits for all of them."""
_HALF_LIFE = timedelta(days=14)
"""Time in which a memory's claim to be told at the start of a conversation halves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some memories, in the order of their last change."""

    memories: tuple[Memory, ...]
    next: int | None
    """Ask for what came after this; None when this is the last page. What changes meanwhile comes again, at the end:
    nothing is missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Some memories, newest first."""

    memories: tuple[Memory, ...]
    total: int
    """How many pass the filter in all."""
    by_day: Mapping[date, int]
    """How many of those were said or happened on which day of `engine.time_zone`, oldest first; days without any are
    left out."""


def page(core: Core, namespace: str, chosen: Filter, now: datetime, *, after: int, limit: int) -> Page:
    """Up to `limit` memories that pass the filter, behind change number `after`."""
    if not 1 <= limit <= _MOST:
        raise InputError(f"limit={limit} must be from 1 to {_MOST}")
    if after < 0:
        raise InputError(f"after={after} must be 0 or more")
    found = core.store.select(namespace, chosen, now=now, after=after, limit=limit + 1)
    shown = found[:limit]
    return Page(memories=tuple(shown), next=shown[-1].changed if len(found) > limit else None)


def timeline(core: Core, namespace: str, chosen: Filter, now: datetime, *, skip: int, limit: int) -> Timeline:
    """Up to `limit` memories that pass the filter, newest first, behind the first `skip`."""
    if not 1 <= limit <= _MOST:
        raise InputError(f"limit={limit} must be from 1 to {_MOST}")
    if skip < 0:
        raise InputError(f"skip={skip} must be 0 or more")
    ids, days = core.recall.view([namespace]).timeline(chosen, now=now, skip=skip, top_k=limit)
    by_day = {(EPOCH + timedelta(days=number)).date(): count for number, count in days.items()}
    return Timeline(memories=tuple(core.store.memories(namespace, ids)), total=sum(days.values()), by_day=by_day)


def live(core: Core, namespace: str, chosen: Filter, now: datetime) -> list[Memory]:
    """All memories that pass the filter, by their last change."""
    return core.store.select(namespace, chosen, now=now)


def wake_up(core: Core, namespace: str, now: datetime, *, top: int, least: float = 0.0) -> tuple[list[Memory], int]:
    """The memories to begin with, and how many there are to choose from.

    Ranked by importance, halved for every fourteen days since they were said.
    """
    if top < 0:
        raise InputError(f"top={top} must be 0 or more")
    ids, known = core.recall.view([namespace]).by_claim(now=now, top_k=top, least=least, half_life=_HALF_LIFE)
    return core.store.memories(namespace, ids), known


def unembedded(core: Core, namespace: str) -> int:
    """How many memories lack a vector of the present embedder; none do where there is no embedder."""
    if core.embedder is None:
        return 0
    census = core.store.census(namespace)
    held = sum(census.memories.values()) + census.deleted
    return max(0, held - core.store.embedded(namespace, core.embedder.model))


def reembed(core: Core, namespace: str, report: Callable[[int, int], None]) -> dict[str, int]:
    """Embed in small transactions until nothing lacks a vector, reporting how many are done of how many."""
    total = len(core.recall.missing(namespace))
    return embed_rest(core, namespace, report, total=total, left=total, batch=_BATCH)


def embed_rest(
    core: Core, namespace: str, report: Callable[[int, int], None], *, total: int, left: int, batch: int
) -> dict[str, int]:
    """The same from where it stands, so many at a time; ends when a transaction brings it no further."""
    while left:
        before, left = left, core.recall.reembed(namespace, limit=batch)
        report(max(0, total - left), total)
        if left >= before:
            break
    return {"embedded": max(0, total - left), "left": left}
