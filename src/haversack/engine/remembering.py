"""Remembering: drafts checked, each admitted among what is known already, the rest written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from haversack.compaction.dedup import SUBJECT, succession
from haversack.engine.admitting import admit_drafts
from haversack.engine.core import Core
from haversack.engine.draft import Details, Stamp, draft_memory, read_subject
from haversack.engine.editing import kept_before
from haversack.engine.passages import split_memory
from haversack.engine.writing import as_written, write
from haversack.errors import ConflictError, InputError, NotFoundError
from haversack.maintenance.texts import text_of
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory, successors_of
from haversack.model.query import Filter
from haversack.store.port import Batch, Said
from haversack.store.retry import persisting

__all__ = ["remember"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    memory: Memory
    supersedes: str | None
    told: frozenset[str]
    """The details that the caller gave; others have their defaults."""
    key: tuple[str, str]
    """What makes two drafts one statement: what two people say of themselves is two, and each passage is itself."""


def remember(core: Core, namespace: str, items: Iterable[str | Mapping[str, object]]) -> list[Memory]:
    """One memory for each item, in order: newly stored, or the one that already says the same."""
    now = core.clock()
    ids = core.new_ids(now)
    listed = _listed(items)
    zone = core.settings.zone
    drafts = [
        _placed(index, item, Stamp(id=next(ids), now=now, zone=zone), len(listed)) for index, item in enumerate(listed)
    ]
    return persisting(lambda: _store(core, namespace, drafts, ids))


def _store(core: Core, namespace: str, drafts: Sequence[_Draft], ids: Iterator[str]) -> list[Memory]:
    now = drafts[0].memory.created_at if drafts else core.clock()
    decides = any(draft.supersedes or draft.memory.kind is not Kind.PASSAGE for draft in drafts)
    marks = [draft.key[0] for draft in drafts if draft.memory.kind is not Kind.PASSAGE]
    said = core.store.said(namespace, marks) if decides else None
    seen, known = (None, {}) if said is None else (said.sequence, _known(said, now))
    fresh = [draft for draft in drafts if known.setdefault(draft.key, draft.memory.id) == draft.memory.id]
    open_ones = [draft.memory for draft in fresh if draft.supersedes is None]
    admitted = admit_drafts(core, namespace, open_ones, now)
    known |= {draft.key: admitted.known[draft.memory.id] for draft in fresh if draft.memory.id in admitted.known}
    joining = [admitted.rows.get(one.memory.id, one.memory) for one in fresh if one.memory.id not in admitted.known]
    answer = [known[draft.key] for draft in drafts]
    rows = _stored(core, namespace, drafts, answer)
    stored, joining = _retold(rows, drafts, answer, joining)
    written = {part.id: part for memory in joining for part in split_memory(core, memory, ids)}
    replaced = [*(new for _, new in stored), *_replaced(core, namespace, drafts, answer), *admitted.ended]
    written |= {row.id: row for row in replaced}
    if written:
        records = tuple(kept_before(core, namespace, old, new) for old, new in stored)
        batch = Batch(
            memories=tuple(written.values()),
            vectors=admitted.vectors,
            records=records,
            seen=seen,
            new_since=seen,
            made_of=successors_of(written.values()),
        )
        done = as_written(batch.memories, write(core, namespace, batch).sequence)
        rows |= {row.id: row for row in done}
    return [rows[name] for name in answer]


def _stored(core: Core, namespace: str, drafts: Sequence[_Draft], answer: Sequence[str]) -> dict[str, Memory]:
    """Statements that are stored already and say what one of the drafts says; ConflictError for one that is gone."""
    wanted = set(answer).difference(draft.memory.id for draft in drafts)
    rows = {row.id: row for row in core.store.memories(namespace, list(wanted))} if wanted else {}
    if missing := wanted - rows.keys():
        raise ConflictError(f"memory {min(missing)} was erased meanwhile")
    return rows


def _retold(
    before: dict[str, Memory], drafts: Sequence[_Draft], answer: Sequence[str], joining: Sequence[Memory]
) -> tuple[list[tuple[Memory, Memory]], list[Memory]]:
    """Statements told again with something more to say: those that are stored, before and after; and `joining`."""
    again = [(draft, name) for draft, name in zip(drafts, answer, strict=True) if draft.memory.id != name]
    after = before | {row.id: row for row in joining}
    for draft, name in again:
        after[name] = _with_more(after[name], draft)
    changed = [(old, after[name]) for name, old in before.items() if after[name] != old]
    return changed, [after[row.id] for row in joining]


def _with_more(row: Memory, draft: _Draft) -> Memory:
    """What is told adds and takes nothing away: names and fields are united, the higher value is kept, an end set."""
    new = draft.memory
    said: dict[str, Any] = {
        "importance": max(row.importance, new.importance),
        "confidence": max(row.confidence, new.confidence),
        "pinned": row.pinned or new.pinned,
        "tags": tuple(dict.fromkeys((*row.tags, *new.tags))),
        "entities": tuple(dict.fromkeys((*row.entities, *new.entities))),
        "metadata": {**new.metadata, **row.metadata},
        "expires_at": new.expires_at or row.expires_at,
        "valid_to": new.valid_to or row.valid_to,
    }
    return replace(row, **{name: value for name, value in said.items() if name in draft.told})


def _known(said: Said, now: datetime) -> dict[tuple[str, str], str]:
    """Ids of stored statements by the key of drafts that say the same.

    Only those that recall would find: what has expired, ended or not begun does not stand for what is told now.
    """
    return {
        (mark, row.speaker): row.id for mark, row in said.memories.items() if Filter().reason_against(row, now) is None
    }


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
        item = {"content": item}
    if not isinstance(item, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"remember takes texts or mappings with `content`, not {type(item).__name__}")
    details = dict(item)
    content = details.pop("content", None)
    supersedes = details.pop("supersedes", None)
    if not isinstance(supersedes, str | None):
        raise InputError(f"supersedes={supersedes!r} must be the id of a memory")
    subject = details.pop("subject", None)
    memory = draft_memory(cast("str", content), stamp, cast("Details", details))
    if subject is not None:
        memory, details["metadata"] = _on_subject(memory, subject), None
    mark = memory.id if memory.kind is Kind.PASSAGE else fingerprint(memory.kind, memory.content)
    return _Draft(memory=memory, supersedes=supersedes, told=frozenset(details), key=(mark, memory.speaker))


def _on_subject(memory: Memory, subject: object) -> Memory:
    if memory.kind in {Kind.PASSAGE, Kind.SUMMARY}:
        raise InputError(f"subject={subject!r} makes no sense for a {memory.kind}: a later one would not end it")
    return replace(memory, metadata={**memory.metadata, SUBJECT: read_subject(cast("str", subject))})


def _replaced(core: Core, namespace: str, drafts: Sequence[_Draft], answer: Sequence[str]) -> list[Memory]:
    """The superseded memories as they are from now on: kept, linked and dated."""
    successors = {
        draft.supersedes: replace(draft.memory, id=name)
        for draft, name in zip(drafts, answer, strict=True)
        if draft.supersedes not in (None, name)
    }
    old = core.store.memories(namespace, list(successors))
    if missing := set(successors) - {memory.id for memory in old}:
        raise NotFoundError(f"supersedes names no memory of this namespace: {', '.join(sorted(missing))}")
    parts = [(successors[memory.id], text_of(core.store, namespace, memory)) for memory in old]
    return [ended for new, texts in parts for ended in succession(new, texts)[1:]]
