"""How anything enters the store: priced, embedded and written in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haversack.embed.codec import embed_stored
from haversack.embed.lapse import WordsAlone
from haversack.engine.core import Core
from haversack.engine.prices import count_lines
from haversack.model.memory import Memory
from haversack.recall import indexed_text
from haversack.store.port import Applied, Batch, Vector

__all__ = ["as_written", "completed", "write"]


def as_written(memories: Sequence[Memory], last: int) -> list[Memory]:
    """Rows as the store has them after a batch of them alone, up to the change number `last`; ids stand once each."""
    first = last - len(memories) + 1
    return [replace(row, born=row.born or number, changed=number) for number, row in enumerate(memories, first)]


def write(core: Core, namespace: str, batch: Batch) -> Applied:
    """Store the batch; durable on return. Each memory is priced for the default model and embedded on the way in."""
    applied = core.store.apply(namespace, completed(core, namespace, batch))
    core.recall.written(namespace, len(batch.memories))
    return applied


def completed(core: Core, namespace: str, batch: Batch) -> Batch:
    """The batch with prices and vectors for its memories, and with the prices that wait for a write."""
    counter = core.counter(core.settings.model)
    embedded = {vector.memory for vector in batch.vectors}
    return replace(
        batch,
        prices=(*batch.prices, *core.prices.take(namespace), *count_lines(batch.memories, counter)),
        vectors=(*batch.vectors, *_vectors(core, [one for one in batch.memories if one.id not in embedded])),
    )


def _vectors(core: Core, memories: Sequence[Memory]) -> tuple[Vector, ...]:
    """Embeddings, or none when the service fails: nothing is lost, words find the memories until they are embedded."""
    embedder = core.embedder
    if embedder is None or not memories:
        return ()
    with WordsAlone():
        _, data = embed_stored(embedder, [indexed_text(memory) for memory in memories])
        return tuple(
            Vector(memory=memory.id, model=embedder.model, data=one) for memory, one in zip(memories, data, strict=True)
        )
    return ()
