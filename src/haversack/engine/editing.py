"""Changing what a memory says of itself. The earlier wording is kept beside it until the memory is erased."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import msgspec

from haversack.engine.core import Core
from haversack.engine.draft import Details, Stamp, draft_memory
from haversack.engine.writing import write
from haversack.errors import ConflictError, InputError, NotFoundError, nearest
from haversack.model.memory import Memory
from haversack.store.port import Batch, Record, Written

__all__ = ["EARLIER", "Earlier", "earlier", "edit", "kept_before"]

EARLIER = "earlier"
"""The collection of what edited memories were before, under the memory's id, so that an erasure takes it along."""

_KEPT = 20
_EDITABLE = frozenset(Details.__annotations__) - {"source"} | {"content"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What an edit replaced."""

    at: datetime
    """When it was replaced."""
    fields: Mapping[str, Any]
    """The changed fields as they were, ready for JSON."""


def edit(core: Core, namespace: str, memory_id: str, changes: Mapping[str, object], *, expected: int | None) -> Memory:
    """The memory with these fields changed, or ConflictError when it is not at change number `expected` any more.

    Two edits at once do not overwrite each other: the second one is refused by ConflictError.
    """
    for name in changes:
        if name not in _EDITABLE:
            raise InputError(f"unknown field {name!r}: {nearest(name, _EDITABLE)}")
    record = core.store.record(namespace, EARLIER, memory_id)
    old = _one(core, namespace, memory_id)
    if expected is not None and old.changed != expected:
        raise ConflictError(f"memory {memory_id!r} was changed by somebody else: read it again")
    new = _changed(old, changes)
    if new == old:
        return old
    write(core, namespace, Batch(memories=(new,), records=(_written(record, old, new, core.clock()),)))
    return _one(core, namespace, memory_id)


def kept_before(core: Core, namespace: str, old: Memory, new: Memory) -> Written:
    """The record to write with a memory that changes, of what it was."""
    return _written(core.store.record(namespace, EARLIER, old.id), old, new, core.clock())


def _written(record: Record | None, old: Memory, new: Memory, now: datetime) -> Written:
    altered = {name: _plain(getattr(old, name)) for name in _EDITABLE if getattr(old, name) != getattr(new, name)}
    history = [] if record is None else msgspec.json.decode(record.value, type=list[Earlier])
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
    return [] if record is None else msgspec.json.decode(record.value, type=list[Earlier])


def _one(core: Core, namespace: str, memory_id: str) -> Memory:
    found = core.store.memories(namespace, [memory_id])
    if not found:
        raise NotFoundError(f"no memory {memory_id!r} in namespace {namespace!r}")
    return found[0]


def _changed(old: Memory, changes: Mapping[str, object]) -> Memory:
    """Every field checked as a new memory's would be; those that are not named stay."""
    details = {name: getattr(old, name) for name in _EDITABLE} | dict(changes)
    content = cast("str", details.pop("content"))
    checked = draft_memory(content, Stamp(id=old.id, now=old.created_at), cast("Details", details))
    return replace(old, **{name: getattr(checked, name) for name in changes})


def _plain(value: object) -> object:
    return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else value
