"""How anything enters the store: priced, embedded and written in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.embed.codec import encode_vectors
from haversack.engine.core import Core
from haversack.engine.prices import count_lines
from haversack.errors import ServiceError
from haversack.model.memory import Memory, Turn
from haversack.recall import indexed_text
from haversack.store.port import Applied, Batch, Vector, Written

__all__ = ["Entry", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one transaction adds."""

    memories: tuple[Memory, ...] = ()
    turns: tuple[Turn, ...] = ()
    records: tuple[Written, ...] = ()


def write(core: Core, namespace: str, entry: Entry) -> Applied:
    """Store the entry; durable on return. Each memory is priced for the default model and embedded on the way in."""
    counter = core.counter(core.settings.model)
    return core.store.apply(
        namespace,
        Batch(
            memories=entry.memories,
            turns=entry.turns,
            records=entry.records,
            prices=(*core.prices.take(namespace), *count_lines(entry.memories, counter)),
            vectors=_vectors(core, entry.memories),
        ),
    )


def _vectors(core: Core, memories: Sequence[Memory]) -> tuple[Vector, ...]:
    """Embeddings, or none when the service fails: nothing is lost, words find the memories until they are embedded."""
    embedder = core.embedder
    if embedder is None or not memories:
        return ()
    try:
        rows = embedder.embed([indexed_text(memory) for memory in memories])
    except ServiceError:
        return ()
    return tuple(
        Vector(memory=memory.id, model=embedder.model, data=data)
        for memory, data in zip(memories, encode_vectors(rows), strict=True)
    )
