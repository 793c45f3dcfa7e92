"""What a batch rests on: rules that every back-end asks of what it finds, before it writes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from haversack.errors import ConflictError
from haversack.model.identity import claims
from haversack.model.memory import Memory, Stage
from haversack.store.port import Batch

__all__ = ["refuse_said", "refuse_stale", "refuse_unfounded"]


def refuse_stale(batch: Batch, sequence: int) -> None:
    """Raise ConflictError when the batch was decided at another change number of the namespace."""
    if batch.sequence not in (None, sequence):
        raise ConflictError("the namespace was changed meanwhile; read it again")


def refuse_unfounded(batch: Batch, turns: Collection[str], memories: Mapping[str, int]) -> None:
    """Raise ConflictError when what the batch was made of is gone or, after it was read, changed.

    `turns` and `memories` (with their change numbers) are those of `made_of` that exist.
    """
    if missing := set(batch.made_of).difference(turns, memories):
        raise ConflictError(f"{min(missing)} was erased meanwhile")
    if batch.seen is not None and any(changed > batch.seen for changed in memories.values()):
        raise ConflictError("a memory was changed meanwhile; read it again")


def refuse_said(batch: Batch, later: Iterable[Memory], buried: Iterable[str], held: Collection[str]) -> None:
    """Raise ConflictError when a new memory of the batch says what was said, or erased for good, after `new_since`.

    `later` are the memories written since, `buried` the fingerprints of those erased since, and `held` the ids of the
    batch's memories that are not new.
    """
    live = (each for each in later if each.superseded_by is None and each.stage is not Stage.DELETED)
    said = {*buried, *(claim for memory in live for claim in claims(memory))}
    if any(said & claims(memory) for memory in batch.memories if memory.id not in held):
        raise ConflictError("the same was said meanwhile; read it again")
