"""Ids that agents give their memories themselves: kept in the metadata, and taken wherever an id is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from fastapi import Path

from haversack.engine.namespace import Namespace
from haversack.errors import NotFoundError
from haversack.model.memory import Memory, Stage

__all__ = ["GIVEN", "MemoryId", "find", "known", "own_ids", "shown_id", "shown_ids"]

GIVEN = "dakera_id"
"""The metadata field. Like all metadata it is exported, and erased with its memory."""

MemoryId = Annotated[str, Path(min_length=1, max_length=255)]


def find(ns: Namespace, name: str) -> Memory | None:
    """The memory with this id, ours or the one that its agent gave it; of several the one that stands, the newest."""
    own = ns.get_many([name])
    if own:
        return own[0]
    return max(ns.filed(GIVEN, name), key=lambda one: (*_stands(one), one.born), default=None)


def known(ns: Namespace, name: str) -> Memory:
    """The same; raises NotFoundError, also for what is softly forgotten."""
    memory = find(ns, name)
    if memory is None or memory.stage is Stage.DELETED:
        raise NotFoundError(f"no memory {name!r} in namespace {ns.name!r}")
    return memory


def own_ids(ns: Namespace, names: Iterable[str]) -> list[str]:
    """Our ids of memories; a name that is unknown stays as it is."""
    return [name if (memory := find(ns, name)) is None else memory.id for name in names]


def shown_id(memory: Memory) -> str:
    """The id under which its agent knows it."""
    given = memory.metadata.get(GIVEN)
    return given if isinstance(given, str) else memory.id


def shown_ids(ns: Namespace, ids: Iterable[str]) -> list[str]:
    """The same for many; an id without a memory stays as it is."""
    wanted = list(ids)
    shown = {memory.id: shown_id(memory) for memory in ns.get_many(wanted)}
    return [shown.get(name, name) for name in wanted]


def _stands(memory: Memory) -> tuple[bool, bool]:
    return memory.stage is not Stage.DELETED, memory.superseded_by is None
