"""Verbs of single kinds: a decision's outcome, a procedure's record, relations and their graph, corrections. Pure.

They change no content: what a verb learns stands in the memory's metadata, in fields that this file names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from haversack.compaction.dedup import SUBJECT, succession
from haversack.errors import InputError
from haversack.model.memory import Kind, Memory, Metadata, Trust
from haversack.model.query import Filter
from haversack.model.text import fingerprint_form, is_blank
from haversack.model.times import micros

__all__ = [
    "FAILURES",
    "OUTCOME",
    "SUCCESSES",
    "TRIPLE",
    "Hop",
    "correction_of",
    "practised",
    "relation",
    "traverse",
    "with_outcome",
]

OUTCOME = "outcome"
SUCCESSES = "successes"
FAILURES = "failures"
TRIPLE = "relation"
"""Metadata field of a relation: [subject, predicate, object]."""

_Z = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A relation reached from where a traversal began."""

    memory: Memory
    distance: int
    """1 for relations of the start itself."""
    path: tuple[str, ...]
    """Entities from the start to the far end of the relation."""


def with_outcome(decision: Memory, outcome: str, at: datetime, *, worked: bool | None = None) -> Memory:
    """The decision with what came of it; a later outcome takes the place of an earlier one."""
    _demand(decision, Kind.DECISION)
    learned: Metadata = {OUTCOME: outcome, "outcome_at": micros(at), "worked": worked}
    return replace(decision, metadata={**decision.metadata, **learned})


def practised(procedure: Memory, at: datetime, *, worked: bool) -> Memory:
    """The procedure after one more try; its confidence is the lower end of its rate of success (Wilson, 95 %)."""
    _demand(procedure, Kind.PROCEDURE)
    good = _tally(procedure, SUCCESSES) + worked
    bad = _tally(procedure, FAILURES) + (not worked)
    counts: Metadata = {SUCCESSES: good, FAILURES: bad, "tried_at": micros(at)}
    return replace(procedure, confidence=_wilson(good, good + bad), metadata={**procedure.metadata, **counts})


def relation(memory: Memory, subject: str, predicate: str, object_: str, *, single: bool = False) -> Memory:
    """The memory as a relation between two entities.

    `single` says that the subject has one such relation at a time (`lives in`): a newer one ends the older one.
    """
    if any(is_blank(part) for part in (subject, predicate, object_)):
        raise InputError(
            f"a relation needs a subject, a predicate and an object, not {(subject, predicate, object_)!r}"
        )
    fields: Metadata = {TRIPLE: [subject, predicate, object_]}
    key = f"{fingerprint_form(subject)}/{fingerprint_form(predicate)}"
    entities = tuple(dict.fromkeys((*memory.entities, subject, object_)))
    metadata = {**memory.metadata, **fields, **({SUBJECT: key} if single else {})}
    return replace(memory, kind=Kind.RELATION, entities=entities, metadata=metadata)


def traverse(
    relations: Iterable[Memory],
    start: str,
    now: datetime,
    *,
    depth: int = 2,
    limit: int = 50,
    as_of: datetime | None = None,
) -> list[Hop]:
    """Relations within `depth` steps of an entity, nearest first, then oldest; at most `limit`.

    Only relations that hold (`as_of` a moment, or now) are walked, in both directions; each is told once.
    """
    holding = Filter(kinds=frozenset({Kind.RELATION}), as_of=as_of)
    edges = [
        (memory, ends)
        for memory in sorted(relations, key=lambda each: (each.event_time, each.id))
        if (ends := _ends(memory)) is not None and holding.reason_against(memory, now) is None
    ]
    around: dict[str, list[tuple[Memory, str]]] = {}
    for memory, (subject, object_) in edges:
        around.setdefault(fingerprint_form(subject), []).append((memory, object_))
        around.setdefault(fingerprint_form(object_), []).append((memory, subject))
    return _walk(around, start, depth, limit)


def correction_of(
    old: Memory, content: str, id_: str, at: datetime, others: Sequence[Memory] = ()
) -> tuple[Memory, ...]:
    """The correction, which outranks everything, and the corrected memory and `others` with it, kept and dated."""
    new = Memory(
        id=id_,
        kind=Kind.CORRECTION,
        content=content,
        created_at=at,
        event_time=at,
        trust=Trust.CORRECTION,
        importance=max(old.importance, 0.8),
        entities=old.entities,
        source=replace(old.source, memories=(old.id,), turns=(), part=None),
        metadata={SUBJECT: old.metadata[SUBJECT]} if SUBJECT in old.metadata else {},
    )
    return succession(new, [old, *others])


def _walk(around: dict[str, list[tuple[Memory, str]]], start: str, depth: int, limit: int) -> list[Hop]:
    hops: list[Hop] = []
    told: set[str] = set()
    seen = {fingerprint_form(start)}
    waiting: deque[tuple[str, tuple[str, ...]]] = deque([(start, (start,))])
    while waiting:
        entity, path = waiting.popleft()
        if len(path) > depth:
            break  # breadth first: all that follow are at least as far
        for memory, other in around.get(fingerprint_form(entity), []):
            if memory.id not in told:
                told.add(memory.id)
                hops.append(Hop(memory=memory, distance=len(path), path=(*path, other)))
                if len(hops) == limit:
                    return hops
            if fingerprint_form(other) not in seen:
                seen.add(fingerprint_form(other))
                waiting.append((other, (*path, other)))
    return hops


def _ends(memory: Memory) -> tuple[str, str] | None:
    match memory.metadata.get(TRIPLE):
        case [str(subject), str(), str(object_)]:
            return subject, object_
        case _:
            return None


def _tally(memory: Memory, field: str) -> int:
    value = memory.metadata.get(field)
    return value if isinstance(value, int) else 0


def _wilson(good: int, tries: int) -> float:
    """Lower end of https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval."""
    rate, spread = good / tries, _Z * _Z / tries
    root = (rate * (1 - rate) / tries + spread / (4 * tries)) ** 0.5
    return max(0.0, (rate + spread / 2 - _Z * root) / (1 + spread))


def _demand(memory: Memory, kind: Kind) -> None:
    if memory.kind is not kind:
        raise InputError(f"memory {memory.id!r} is a {memory.kind}, not a {kind}")
