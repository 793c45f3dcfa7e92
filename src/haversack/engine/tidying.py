"""Merging what says the same: near duplicates fold into one, chosen memories into a new one.

Whatever is folded away is kept, linked to what took its place, dated, and can be unfolded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from haversack.compaction.dedup import unhidden
from haversack.engine.core import Core
from haversack.engine.draft import read_unit
from haversack.engine.listing import live
from haversack.engine.passages import split_memory
from haversack.engine.reorganizing import Precedence, find_duplicates
from haversack.engine.writing import as_written, write
from haversack.errors import InputError, NotFoundError
from haversack.lifecycle.policy import DedupPolicy
from haversack.maintenance.texts import follows, texts_of
from haversack.model.memory import Kind, Memory, Source, Stage, Trust, successors_of
from haversack.model.query import Filter
from haversack.store.port import Batch
from haversack.store.retry import persisting

__all__ = ["Duplicates", "fold", "merge", "unfold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Memories that say the same, the one that stays first."""

    survivor: str
    folded: tuple[str, ...]


def fold(core: Core, namespace: str, *, threshold: float = 0.9, preview: bool = True) -> list[Duplicates]:
    """Fold near duplicates of one kind into the most trusted, most important, oldest of them.

    Two memories are near duplicates when their words are alike to `threshold` (cosine) and nothing tells them apart:
    statements that differ in a word, a number, a code, a sign or their order stay two, as everywhere.
    Passages are what was said, so they are left alone, and so are pinned memories.
    """
    least = read_unit(threshold, "threshold")
    return persisting(lambda: _fold(core, namespace, least, preview=preview))


def _fold(core: Core, namespace: str, least: float, *, preview: bool) -> list[Duplicates]:
    seen = core.store.sequence(namespace)
    known = [memory for memory in live(core, namespace, Filter(), core.clock()) if _foldable(memory)]
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for one in find_duplicates(known, DedupPolicy(similarity=least), _rank):
        groups[one.keep].append(one.hide)
    if not preview and groups:
        there = {one.id: one for one in known}
        away = [_retired(there[name], keep) for keep, hidden in groups.items() for name in hidden]
        core.store.apply(namespace, Batch(memories=tuple(away), seen=seen, made_of=successors_of(away)))
    return [Duplicates(survivor=keep, folded=tuple(hidden)) for keep, hidden in groups.items()]


def merge(core: Core, namespace: str, ids: Sequence[str], *, preview: bool = False) -> Memory:
    """A new memory with the words of all of these, in the order of their time, which takes their place.

    With `preview` it is only shown.
    """
    wanted = list(dict.fromkeys(ids))
    if len(wanted) < 2:  # noqa: PLR2004 - one alone is merged already
        raise InputError("merging takes at least two memories")
    return persisting(lambda: _merge(core, namespace, wanted, preview=preview))


def _merge(core: Core, namespace: str, wanted: Sequence[str], *, preview: bool) -> Memory:
    seen = core.store.sequence(namespace)
    found = sorted(core.store.memories(namespace, wanted), key=lambda one: (one.event_time, one.born))
    if missing := set(wanted) - {one.id for one in found}:
        raise NotFoundError(f"no such memory in this namespace: {', '.join(sorted(missing)[:5])}")
    parts = texts_of(core.store, namespace, found)
    if any(one.superseded_by or one.stage is Stage.DELETED for one in parts):
        raise InputError("a memory that was replaced or forgotten cannot be merged: restore it first")
    if ending := [one.id for one in parts if one.valid_to]:
        raise InputError(f"{ending[0]} ends at a date, and what it is merged into would not: remove its valid_to first")
    names = core.new_ids(core.clock())
    whole = _merged(core, next(names), parts)
    if preview:
        return whole
    merged = split_memory(core, whole, names)
    rows = (*merged, *(_retired(one, whole.id) for one in parts))
    batch = Batch(memories=rows, seen=seen)
    return as_written(rows, write(core, namespace, batch).sequence)[0]


def unfold(core: Core, namespace: str, memory_id: str) -> Memory:
    """Undo a fold or a merge for one memory: it stands for itself again."""
    return persisting(lambda: _unfold(core, namespace, memory_id))


def _unfold(core: Core, namespace: str, memory_id: str) -> Memory:
    seen = core.store.sequence(namespace)
    found = core.store.memories(namespace, [memory_id])
    if not found or found[0].superseded_by is None:
        raise NotFoundError(f"no folded memory {memory_id!r} in namespace {namespace!r}")
    back = [one for one in texts_of(core.store, namespace, found) if one.superseded_by == found[0].superseded_by]
    rows = tuple(unhidden(one) for one in back)
    applied = core.store.apply(namespace, Batch(memories=rows, seen=seen))
    return next(row for row in as_written(rows, applied.sequence) if row.id == memory_id)


def _foldable(memory: Memory) -> bool:
    return memory.kind is not Kind.PASSAGE and not memory.pinned


def _rank(memory: Memory) -> Precedence:
    return list(Trust).index(memory.trust), -memory.importance, memory.born, memory.id


def _retired(memory: Memory, successor: str) -> Memory:
    return replace(memory, superseded_by=successor)


def _joined(parts: Sequence[Memory]) -> str:
    """The words of all, a line each; the parts of one text follow each other as they were."""
    texts = [parts[0].content]
    for before, one in pairwise(parts):
        if follows(before, one):
            texts[-1] += one.content
        else:
            texts.append(one.content)
    return "\n".join(dict.fromkeys(texts))


def _merged(core: Core, name: str, parts: Sequence[Memory]) -> Memory:
    now = core.clock()
    newest = parts[-1]
    return replace(
        newest,
        id=name,
        content=_joined(parts),
        created_at=now,
        importance=max(one.importance for one in parts),
        confidence=min(one.confidence for one in parts),
        trust=max((one.trust for one in parts), key=list(Trust).index),
        entities=tuple(dict.fromkeys(name for one in parts for name in one.entities)),
        tags=tuple(dict.fromkeys(tag for one in parts for tag in one.tags)),
        pinned=any(one.pinned for one in parts),
        source=Source(memories=tuple(one.id for one in parts), session=newest.source.session),
        access_count=0,
        accessed_at=None,
        superseded_by=None,
        born=0,
        changed=0,
    )
