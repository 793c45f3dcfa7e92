"""Remembering: drafts checked, statements that are known already found, the rest written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

from haversack.engine.core import Core
from haversack.engine.draft import Details, Stamp, draft_memory
from haversack.engine.passages import split_memory
from haversack.engine.writing import write
from haversack.errors import InputError, NotFoundError
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory
from haversack.store.port import Batch

__all__ = ["remember"]


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
    drafts = [_draft(item, Stamp(id=next(ids), now=now)) for item in items]
    known = core.store.by_fingerprint(namespace, [draft.mark for draft in drafts])
    fresh = [draft for draft in drafts if known.setdefault(draft.mark, draft.memory.id) == draft.memory.id]
    memories = [chunk for draft in fresh for chunk in _chunks(core, draft.memory, ids)]
    replaced = _replaced(core, namespace, fresh)
    if memories:
        write(core, namespace, Batch(memories=(*memories, *replaced)))
    answer = [known[draft.mark] for draft in drafts]
    stored = {memory.id: memory for memory in core.store.memories(namespace, list(dict.fromkeys(answer)))}
    return [stored[memory_id] for memory_id in answer]


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
    return _Draft(memory=draft_memory(cast("str", content), stamp, cast("Details", details)), supersedes=supersedes)


def _chunks(core: Core, memory: Memory, ids: Iterable[str]) -> list[Memory]:
    return split_memory(core, memory, iter(ids)) if memory.kind is Kind.PASSAGE else [memory]


def _replaced(core: Core, namespace: str, drafts: list[_Draft]) -> list[Memory]:
    """The superseded memories as they are from now on: kept, linked and dated."""
    successors = {draft.supersedes: draft.memory for draft in drafts if draft.supersedes is not None}
    old = core.store.memories(namespace, list(successors))
    if missing := set(successors) - {memory.id for memory in old}:
        raise NotFoundError(f"supersedes names no memory of this namespace: {', '.join(sorted(missing))}")
    return [_retired(memory, successors[memory.id]) for memory in old]


def _retired(memory: Memory, successor: Memory) -> Memory:
    end = successor.valid_from or successor.event_time
    return replace(memory, superseded_by=successor.id, valid_to=memory.valid_to or end)
