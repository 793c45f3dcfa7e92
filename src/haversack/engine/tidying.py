"""Merging what says the same: near duplicates fold into one, chosen memories into a new one.

Whatever is folded away is kept, linked to what took its place, dated, and can be unfolded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from haversack.compaction.dedup import unhidden
from haversack.engine.core import Core
from haversack.engine.draft import read_unit
from haversack.engine.listing import live
from haversack.engine.passages import split_memory
from haversack.engine.writing import as_written, write
from haversack.errors import InputError, NotFoundError
from haversack.maintenance.texts import follows, texts_of
from haversack.model.memory import Kind, Memory, Source, Stage, Trust, successors_of
from haversack.model.query import Filter
from haversack.model.text import fingerprint_form
from haversack.store.port import Batch
from haversack.store.retry import persisting

__all__ = ["Duplicates", "fold", "merge", "unfold"]

_RARE = 3
"""Two texts are compared when they share one of their three rarest words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Memories that say the same, the one that stays first."""

    survivor: str
    folded: tuple[str, ...]


def fold(core: Core, namespace: str, *, threshold: float = 0.9, preview: bool = True) -> list[Duplicates]:
    """Fold near duplicates of one kind into the most trusted, most important, oldest of them.

    Two memories are near duplicates when the share of words that they have in common (Jaccard) reaches `threshold`.
    Passages are what was said, so they are left alone, and so are pinned memories.
    """
    least = read_unit(threshold, "threshold")
    return persisting(lambda: _fold(core, namespace, least, preview=preview))


def _fold(core: Core, namespace: str, least: float, *, preview: bool) -> list[Duplicates]:
    seen = core.store.sequence(namespace)
    known = [memory for memory in live(core, namespace, Filter(), core.clock()) if _foldable(memory)]
    groups = [group for group in _groups(known, least) if len(group) > 1]
    found = [Duplicates(survivor=group[0].id, folded=tuple(one.id for one in group[1:])) for group in groups]
    if not preview and found:
        away = [_retired(one, group[0]) for group in groups for one in group[1:]]
        core.store.apply(namespace, Batch(memories=tuple(away), seen=seen, made_of=successors_of(away)))
    return found


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
    names = core.new_ids(core.clock())
    whole = _merged(core, next(names), parts)
    if preview:
        return whole
    merged = split_memory(core, whole, names)
    rows = (*merged, *(_retired(one, whole) for one in parts))
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


def _groups(memories: Iterable[Memory], least: float) -> list[list[Memory]]:
    """Near duplicates around their best member; each memory is in one group at most."""
    ranked = sorted(memories, key=_rank)
    words = {one.id: frozenset(fingerprint_form(one.content).split()) for one in ranked}
    counts = Counter(word for own in words.values() for word in own)
    leaders: defaultdict[tuple[Kind, str], list[Memory]] = defaultdict(list)
    groups: dict[str, list[Memory]] = {}
    for one in ranked:
        own = words[one.id]
        rare = sorted(own, key=lambda word: (counts[word], word))[:_RARE]
        near = (leader for word in rare for leader in leaders[one.kind, word])
        leader = next((other for other in near if _overlap(own, words[other.id]) >= least), None)
        if leader is not None:
            groups[leader.id].append(one)
            continue
        groups[one.id] = [one]
        for word in own:
            leaders[one.kind, word].append(one)
    return list(groups.values())


def _rank(memory: Memory) -> tuple[int, float, int]:
    return list(Trust).index(memory.trust), -memory.importance, memory.born


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left or right else 1.0


def _retired(memory: Memory, successor: Memory) -> Memory:
    return replace(memory, superseded_by=successor.id)


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
