"""Reorganising for callers: how duplicates are found and statements are summed up, with what the engine has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta

from haversack.compaction import CompactionConfig
from haversack.compaction.dedup import essence, hidden_behind, is_same_statement, lexical_similarity
from haversack.compaction.summarize import Refused, Summarizer
from haversack.engine.aging import desk_of, policy_of
from haversack.engine.core import Core
from haversack.engine.costing import metered
from haversack.errors import InputError, nearest
from haversack.lifecycle.policy import DedupPolicy
from haversack.llm.cost import Purpose
from haversack.maintenance.reorganize import Duplicate, Means, Part, Reorganized, reorganize
from haversack.model.memory import Memory, Trust
from haversack.model.text import fingerprint_form

__all__ = ["find_duplicates", "read_parts", "reorganize_namespace"]

_COMPARED = 50
"""A statement is compared with so many of those that its wording could be one with; more only differ in inflections."""
_SUMMARY_TOKENS = 120
Precedence = tuple[float, float, float, str]
"""What comes first stays."""


def reorganize_namespace(
    core: Core, namespace: str, *, parts: Iterable[str] | None, execute: bool, backup: Callable[[], str] | None
) -> Reorganized:
    """Reorganise one namespace; without a way to take a backup, that step is left out."""
    policy = policy_of(core, namespace)
    means = Means(
        duplicates=lambda memories: find_duplicates(memories, policy.dedup),
        hide=hidden_behind,
        synthesize=_synthesizer(core, namespace, execute=execute),
        backup=backup,
    )
    return reorganize(desk_of(core, namespace), policy, means, parts=read_parts(parts), execute=execute)


def _synthesizer(core: Core, namespace: str, *, execute: bool) -> Callable[[str, Sequence[Memory]], str | None]:
    """Says statements together in their own sentences; on execution the service of compaction words them, if it can.

    A preview calls no service: what it would touch is the same. A service that fails, is out of time or makes nothing
    shorter leaves the statements' own sentences.
    """
    config = core.memory.compaction or CompactionConfig()
    counter = core.counter(core.settings.model)
    plain = Summarizer.of(config, counter)
    name = config.llm_service if execute else None
    service = None if name is None else metered(core, namespace, None, name, Purpose.MAINTENANCE)
    worded = Summarizer.of(config, counter, service)
    ends = core.clock() + timedelta(milliseconds=config.critical_max_duration_ms)

    def time_left() -> float:
        return (ends - core.clock()).total_seconds()

    def say(about: str, memories: Sequence[Memory]) -> str | None:
        lines = list(dict.fromkeys(" ".join(memory.content.split()) for memory in memories))
        text = plain.say_together(lines, limit=_SUMMARY_TOKENS, time_left=time_left)
        if text and service is not None:
            with suppress(Refused):
                text = worded.say_together(lines, limit=_SUMMARY_TOKENS, time_left=time_left)
        return f"About {about}:\n{text}" if text else None

    return say


def read_parts(parts: Iterable[str] | None) -> frozenset[Part]:
    """Checked names of steps; None: all of them."""
    if parts is None:
        return frozenset(Part)
    for part in parts:
        if part not in set(Part):
            raise InputError(f"unknown step {part!r}: {nearest(part, list(Part))}")
    return frozenset(map(Part, parts))


def find_duplicates(
    memories: Sequence[Memory], policy: DedupPolicy, order: Callable[[Memory], Precedence] | None = None
) -> list[Duplicate]:
    """Statements that others of their kind say already, each with the one that stays.

    Of two, the one with more trust stays, then the pinned, then the older one, unless `order` puts another one first;
    pinned ones are never hidden.
    """
    staying: defaultdict[Hashable, list[Memory]] = defaultdict(list)
    found: list[Duplicate] = []
    for memory in sorted(memories, key=order or _precedence):
        keys = [(memory.kind, form) for form in (fingerprint_form(memory.content), essence(memory.content))]
        near = list({other.id: other for key in keys for other in staying[key]}.values())
        best = None if memory.pinned else _best(memory, near, policy)
        if best is not None:
            found.append(best)
            continue
        for key in keys:
            if len(staying[key]) < _COMPARED:
                staying[key].append(memory)
    return found


def _precedence(memory: Memory) -> Precedence:
    return list(Trust).index(memory.trust), not memory.pinned, memory.event_time.timestamp(), memory.id


def _best(memory: Memory, near: Sequence[Memory], policy: DedupPolicy) -> Duplicate | None:
    scores = lexical_similarity(memory.content, [other.content for other in near])
    same = [
        (score, -place)
        for place, (score, other) in enumerate(zip(scores, near, strict=True))
        if is_same_statement(memory.content, other.content, score, policy)
    ]
    if not same:
        return None
    score, place = max(same)
    return Duplicate(keep=near[-place].id, hide=memory.id, similarity=min(1.0, score))
