"""Remembering: drafts checked, each admitted among what is known already, the rest written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from haversack.compaction.dedup import SUBJECT
from haversack.engine.admitting import admit_drafts
from haversack.engine.core import Core
from haversack.engine.draft import Details, Stamp, draft_memory
from haversack.engine.passages import split_memory
from haversack.engine.writing import write
from haversack.errors import ConflictError, InputError, NotFoundError
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory
from haversack.model.query import Filter
from haversack.model.text import label
from haversack.store.port import Batch

__all__ = ["remember"]

_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    memory: Memory
    supersedes: str | None

    @property
    def mark(self) -> str:
        """What makes two drafts the same statement; each passage stands for itself."""
        is_passage = self.memory.kind is Kind.PASSAGE
        return self.memory.id if is_passage else fingerprint(self.memory.kind, self.memory.content)


def remember(core: Core, namespace: str, items: Iterable[str | Mapping[str, object]]) -> list[Memory]:
    """One memory for each item, in order: newly stored, or the one that already says the same."""
    now = core.clock()
    ids = core.new_ids(now)
    listed = _listed(items)
    drafts = [_placed(index, item, Stamp(id=next(ids), now=now), len(listed)) for index, item in enumerate(listed)]
    for _ in range(_TRIES - 1):
        try:
            return _store(core, namespace, drafts, ids)
        except ConflictError:
            continue  # somebody changed a statement that one of these ends
    return _store(core, namespace, drafts, ids)


def _store(core: Core, namespace: str, drafts: Sequence[_Draft], ids: Iterable[str]) -> list[Memory]:
    now = drafts[0].memory.created_at if drafts else core.clock()
    known = _true_now(core, namespace, core.store.by_fingerprint(namespace, [draft.mark for draft in drafts]), now)
    fresh = [draft for draft in drafts if known.setdefault(draft.mark, draft.memory.id) == draft.memory.id]
    open_ones = [draft.memory for draft in fresh if draft.supersedes is None]
    admitted = admit_drafts(core, namespace, open_ones, now)
    known |= {draft.mark: admitted.known[draft.memory.id] for draft in fresh if draft.memory.id in admitted.known}
    joining = [admitted.rows.get(one.memory.id, one.memory) for one in fresh if one.memory.id not in admitted.known]
    memories = [chunk for memory in joining for chunk in _chunks(core, memory, ids)]
    replaced = [*_replaced(core, namespace, fresh), *admitted.ended]
    if memories:
        batch = Batch(memories=(*memories, *replaced), vectors=admitted.vectors, seen=_seen(replaced))
        write(core, namespace, batch)
    answer = [known[draft.mark] for draft in drafts]
    stored = {memory.id: memory for memory in core.store.memories(namespace, list(dict.fromkeys(answer)))}
    return [stored[memory_id] for memory_id in answer]


def _true_now(core: Core, namespace: str, known: dict[str, str], now: datetime) -> dict[str, str]:
    """Those that recall would find: what has expired, ended or not begun does not stand for what is told now."""
    rows = core.store.memories(namespace, list(known.values()))
    alive = {row.id for row in rows if Filter().reason_against(row, now) is None}
    return {mark: name for mark, name in known.items() if name in alive}


def _seen(replaced: Sequence[Memory]) -> int | None:
    return max((memory.changed for memory in replaced), default=None)


def _listed(items: Iterable[str | Mapping[str, object]]) -> list[str | Mapping[str, object]]:
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        given = type(cast("object", items)).__name__
        raise InputError(f"remember_many takes a list of texts or mappings, not one {given}")
    return list(items)


def _placed(index: int, item: str | Mapping[str, object], stamp: Stamp, count: int) -> _Draft:
    try:
        return _draft(item, stamp)
    except InputError as error:
        if count == 1:
            raise
        raise type(error)(f"item {index}: {error}") from None


def _draft(item: str | Mapping[str, object], stamp: Stamp) -> _Draft:
    if isinstance(item, str):
        return _Draft(memory=draft_memory(item, stamp, Details()), supersedes=None)
    if not isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"remember takes texts or mappings with `content`, not {type(item).__name__}")
    details = dict(item)
    content = details.pop("content", None)
    supersedes = details.pop("supersedes", None)
    if not isinstance(supersedes, str | None):
        raise InputError(f"supersedes={supersedes!r} must be the id of a memory")
    subject = details.pop("subject", None)
    memory = draft_memory(cast("str", content), stamp, cast("Details", details))
    return _Draft(memory=memory if subject is None else _on_subject(memory, subject), supersedes=supersedes)


def _on_subject(memory: Memory, subject: object) -> Memory:
    if memory.kind in {Kind.PASSAGE, Kind.SUMMARY}:
        raise InputError(f"subject={subject!r} makes no sense for a {memory.kind}: a later one would not end it")
    named = label(cast("str", subject), "subject").strip().casefold()
    return replace(memory, metadata={**memory.metadata, SUBJECT: named})


def _chunks(core: Core, memory: Memory, ids: Iterable[str]) -> list[Memory]:
    return split_memory(core, memory, iter(ids)) if memory.kind is Kind.PASSAGE else [memory]


def _replaced(core: Core, namespace: str, drafts: Sequence[_Draft]) -> list[Memory]:
    """The superseded memories as they are from now on: kept, linked and dated."""
    successors = {draft.supersedes: draft.memory for draft in drafts if draft.supersedes is not None}
    old = core.store.memories(namespace, list(successors))
    if missing := set(successors) - {memory.id for memory in old}:
        raise NotFoundError(f"supersedes names no memory of this namespace: {', '.join(sorted(missing))}")
    return [_retired(memory, successors[memory.id]) for memory in old]


def _retired(memory: Memory, successor: Memory) -> Memory:
    end = successor.valid_from or successor.event_time
    return replace(memory, superseded_by=successor.id, valid_to=memory.valid_to or end)
