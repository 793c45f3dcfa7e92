"""What of an import may land: records by their collection, memories by what is here and what was erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from haversack.compaction.extraction.extractor import READ_UPTO
from haversack.compaction.view import VIEWS, View
from haversack.engine.aging import POLICIES, POLICY, POLICY_KEY
from haversack.engine.editing import EDITABLE
from haversack.engine.exporting import KEPT_COLLECTIONS
from haversack.engine.feedback import VOTES
from haversack.errors import InputError
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory, Stage, Trust
from haversack.store.port import BY_SESSION, HIDDEN, Store, Written
from haversack.store.records import Collection
from haversack.transfer.entries import Problem, RecordEntry

__all__ = ["Sorted", "checked_record", "is_about_something", "sort_memories"]

_VALUES: Mapping[str, Collection[Any]] = {each.name: each for each in (VIEWS, POLICIES, VOTES, READ_UPTO)}
_TRUSTS = list(Trust)
"""From the most trusted to the least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """What becomes of imported memories; those that are not named are here already."""

    new: tuple[Memory, ...]
    replaced: tuple[tuple[Memory, Memory], ...]
    """Each as it is here and as it will be."""
    forgotten: tuple[Memory, ...]
    refused: tuple[Problem, ...]


def checked_record(entry: RecordEntry, *, may_administer: bool) -> Written:
    """Return the record to write, if none is there yet; raise InputError when it may not land."""
    if entry.collection not in KEPT_COLLECTIONS:
        raise InputError(
            f"records of {entry.collection!r} are not imported, only those of {', '.join(KEPT_COLLECTIONS)}"
        )
    if entry.collection == POLICY and not may_administer:
        raise InputError("it says how the namespace is kept: importing it takes an admin's key")
    if entry.collection == POLICY and entry.key != POLICY_KEY:
        raise InputError(f"a policy's key is {POLICY_KEY!r}")
    if entry.collection == HIDDEN:
        return Written(collection=HIDDEN, key=entry.key, value=b"", expected=0)
    try:
        value = _VALUES[entry.collection].decode(entry.value)
    except (ValueError, RecursionError) as error:
        raise InputError(f"its value cannot be decoded: {error}") from None
    if isinstance(value, View) and value.session != entry.key:
        raise InputError(f"it is a view of session {value.session!r}")
    return Written(collection=entry.collection, key=entry.key, value=entry.value, expected=0)


def is_about_something(store: Store, namespace: str, record: Written) -> bool:
    """Return whether what the record is about is here; False when it was erased. Raise InputError when it never was."""
    if record.collection == POLICY:
        return True
    if record.collection in BY_SESSION:
        return bool(store.turns(namespace, record.key, limit=1))
    here = store.turns_by_id if record.collection == HIDDEN else store.memories
    if not here(namespace, [record.key]) and not store.erased(namespace, [record.key]):
        raise InputError("what it is about is not here: import that before it")
    return bool(here(namespace, [record.key]))


def sort_memories(store: Store, namespace: str, given: Sequence[Memory], *, may_raise_trust: bool) -> Sorted:
    """Sort out what is new, what has other words here, what was erased, and what the caller may not write.

    A memory that is softly forgotten here stays as it is.
    """
    known = {memory.id: memory for memory in store.memories(namespace, [memory.id for memory in given])}
    unknown = [memory for memory in given if memory.id not in known]
    gone = _erased(store, namespace, unknown)
    changed = [
        (known[memory.id], memory)
        for memory in given
        if memory.id in known
        and known[memory.id].content != memory.content
        and known[memory.id].stage is not Stage.DELETED
    ]
    raised = {new.id for old, new in changed if not may_raise_trust and _is_above(new.trust, old.trust)}
    return Sorted(
        new=tuple(memory for memory in unknown if memory.id not in gone),
        replaced=tuple((old, _reworded(old, new)) for old, new in changed if new.id not in raised),
        forgotten=tuple(memory for memory in unknown if memory.id in gone),
        refused=tuple(_refusal(old, new) for old, new in changed if new.id in raised),
    )


def _erased(store: Store, namespace: str, memories: Sequence[Memory]) -> set[str]:
    """Ids of those that were erased, were made of what was erased, or are statements in the words of an erased one."""
    marks = {each.id: fingerprint(each.kind, each.content) for each in memories if each.kind is not Kind.PASSAGE}
    stones = store.tombstoned(namespace, list(marks.values()))
    origins = {each.id: (each.id, *each.source.turns, *each.source.memories) for each in memories}
    gone = store.erased(namespace, list({name for names in origins.values() for name in names}))
    return {name for name, origin in origins.items() if marks.get(name) in stones or not gone.isdisjoint(origin)}


def _reworded(old: Memory, new: Memory) -> Memory:
    """What is here with all that an edit may change; its life, its origin and what ended it stay."""
    return replace(old, **{name: getattr(new, name) for name in EDITABLE})


def _is_above(one: Trust, other: Trust) -> bool:
    return _TRUSTS.index(one) < _TRUSTS.index(other)


def _refusal(old: Memory, new: Memory) -> Problem:
    told = f"it has other words here, and would rise from {old.trust} to {new.trust}: that takes an admin's key"
    return Problem(file="", place=f"memory {new.id}", message=told)
