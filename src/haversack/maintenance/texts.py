"""Long texts that are kept in parts: the first part stands for the whole text, and so does any part of a turn."""

from __future__ import annotations

from collections.abc import Iterable

from haversack.model.memory import Memory
from haversack.store import plan
from haversack.store.port import Store

__all__ = ["follows", "stands_for_text", "text_of", "texts_of"]


def stands_for_text(memory: Memory) -> bool:
    """Whether what is done to this memory is done to all parts of a text."""
    part = memory.source.part
    return part is not None and part[1] > 1 and (part[0] == 0 or bool(memory.source.turns))


def text_of(store: Store, namespace: str, memory: Memory) -> list[Memory]:
    """Return the memory, or all parts of the text that it stands for, in order; erased parts are missing."""
    name = plan.text_of(memory)
    if name is None or not stands_for_text(memory):
        return [memory]
    found = {part.id: part for part in store.parts(namespace, [name]) if _is_with(part, memory)}
    return sorted({**found, memory.id: memory}.values(), key=_place)


def texts_of(store: Store, namespace: str, memories: Iterable[Memory]) -> list[Memory]:
    """These memories, each with the other parts of the text that it stands for; none twice."""
    found: dict[str, Memory] = {}
    for memory in memories:
        if memory.id not in found:
            found |= {part.id: part for part in text_of(store, namespace, memory)}
    return list(found.values())


def follows(before: Memory, memory: Memory) -> bool:
    """Whether a memory is the next part of the text that the one before it is a part of."""
    mine, theirs = memory.source.part, before.source.part
    at = before.created_at == memory.created_at
    return at and mine is not None and theirs is not None and mine == (theirs[0] + 1, theirs[1])


def _is_with(other: Memory, memory: Memory) -> bool:
    """Whether both are parts of one text. Parts of a turn share it; those of another text name its first part."""
    mine, theirs = memory.source, other.source
    if mine.part is None or theirs.part is None or mine.part[1] != theirs.part[1]:
        return False
    is_one_turn = bool(mine.turns) and mine.turns == theirs.turns
    return other.created_at == memory.created_at and (is_one_turn or memory.id in theirs.memories)


def _place(memory: Memory) -> int:
    return 0 if memory.source.part is None else memory.source.part[0]
