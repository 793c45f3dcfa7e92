"""Changing what a memory says of itself. The earlier wording is kept beside it until the memory is erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import chain
from typing import Any, cast

import msgspec

from haversack.engine.core import Core
from haversack.engine.draft import Details, Stamp, draft_memory
from haversack.engine.passages import split_memory
from haversack.engine.writing import as_written, write
from haversack.errors import ConflictError, InputError, NotFoundError, nearest
from haversack.maintenance.texts import text_of
from haversack.model.memory import Memory
from haversack.store.port import Batch, Record, Written
from haversack.store.records import Collection

__all__ = ["EARLIER", "EDITABLE", "FORMER", "Earlier", "earlier", "edit", "kept_before"]

EARLIER = "earlier"
"""The collection of what edited memories were before, under the memory's id, so that an erasure takes it along."""

_KEPT = 20
EDITABLE = frozenset(Details.__annotations__) - {"source"} | {"content"}
"""What of a memory may be changed."""
_GATHERED = frozenset({"entities", "tags"})
"""A memory may come to have more of these, call by call, than one call may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an edit replaced."""

    at: datetime
    """When it was replaced."""
    fields: Mapping[str, Any]
    """The changed fields as they were, ready for JSON."""


FORMER = Collection(EARLIER, list[Earlier])


def edit(core: Core, namespace: str, memory_id: str, changes: Mapping[str, object], *, expected: int | None) -> Memory:
    """The memory with these fields changed, or ConflictError when it is not at change number `expected` any more.

    What stands for a long text changes all its parts, and new `content` is the whole text's. Two edits at once do not
    overwrite each other: the second one is refused by ConflictError.
    """
    for name in changes:
        if name not in EDITABLE:
            raise InputError(f"unknown field {name!r}: {nearest(name, EDITABLE)}")
    seen = core.store.sequence(namespace)
    old = _one(core, namespace, memory_id)
    if expected is not None and old.changed != expected:
        raise ConflictError(f"memory {memory_id!r} was changed by somebody else: read it again")
    before = {part.id: part for part in text_of(core.store, namespace, old)}
    rows = tuple(row for row in _edited(core, old, list(before.values()), changes) if row != before.get(row.id))
    if not rows:
        return old
    records = tuple(kept_before(core, namespace, before[row.id], row) for row in rows if row.id in before)
    applied = write(core, namespace, Batch(memories=rows, records=records, seen=seen))
    return next((row for row in as_written(rows, applied.sequence) if row.id == memory_id), old)


def kept_before(core: Core, namespace: str, old: Memory, new: Memory) -> Written:
    """The record to write with a memory that changes, of what it was."""
    return _written(core.store.record(namespace, EARLIER, old.id), old, new, core.clock())


def _written(record: Record | None, old: Memory, new: Memory, now: datetime) -> Written:
    altered = {name: _plain(getattr(old, name)) for name in EDITABLE if getattr(old, name) != getattr(new, name)}
    history = FORMER.value_of(record) or []
    history.append(Earlier(at=now, fields=altered))
    return Written(
        collection=EARLIER,
        key=old.id,
        value=msgspec.json.encode(history[-_KEPT:]),
        expected=0 if record is None else record.version,
    )


def earlier(core: Core, namespace: str, memory_id: str) -> list[Earlier]:
    """What the memory was before its edits, oldest first."""
    record = core.store.record(namespace, EARLIER, memory_id)
    return FORMER.value_of(record) or []


def _one(core: Core, namespace: str, memory_id: str) -> Memory:
    found = core.store.memories(namespace, [memory_id])
    if not found:
        raise NotFoundError(f"no memory {memory_id!r} in namespace {namespace!r}")
    return found[0]


def _changed(old: Memory, changes: Mapping[str, object], zone: tzinfo) -> Memory:
    """Every field checked as a new memory's would be; those that are not named stay."""
    details = {name: getattr(old, name) for name in EDITABLE - _GATHERED} | dict(changes)
    content = cast("str", details.pop("content"))
    checked = draft_memory(content, Stamp(id=old.id, now=old.created_at, zone=zone), cast("Details", details))
    return replace(old, **{name: getattr(checked, name) for name in changes})


def _edited(core: Core, old: Memory, parts: Sequence[Memory], changes: Mapping[str, object]) -> list[Memory]:
    """All rows of the text as they are from now on: the words of another part than the first are its own alone."""
    zone, rest = core.settings.zone, {name: value for name, value in changes.items() if name != "content"}
    new = _changed(old, changes, zone)
    others = [_changed(part, rest, zone) for part in parts if part.id != old.id]
    if new.content in (old.content, "".join(part.content for part in parts)):
        return [replace(new, content=old.content), *others]
    part = old.source.part
    if part is not None and (part[0] > 0 or not others):
        return [new, *others]
    return _reworded(core, new, others)


def _reworded(core: Core, new: Memory, others: Sequence[Memory]) -> list[Memory]:
    """The new text in as many parts as it needs; what it does not need is no part any more, but ended and hidden."""
    now = core.clock()
    ids = chain((part.id for part in others), core.new_ids(now))
    fresh = split_memory(core, replace(new, source=replace(new.source, part=None)), ids)
    former = {part.id: part for part in others}
    left = [part for part in others if part.id not in {one.id for one in fresh}]
    return [
        *(
            replace(former[one.id], content=one.content, source=one.source) if one.id in former else one
            for one in fresh
        ),
        *(replace(part, source=replace(part.source, part=None), superseded_by=new.id, valid_to=now) for part in left),
    ]


def _plain(value: object) -> object:
    return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else value
