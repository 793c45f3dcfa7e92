"""What stands in a prompt once is not sent a second time: turns of its history and of earlier sessions. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from haversack.assemble.candidate import Candidate
from haversack.assemble.fit import Kept
from haversack.assemble.history import Past
from haversack.model.memory import Kind, Memory

__all__ = ["standing_code", "standing_turns", "without_repeats"]


def standing_turns(past: Sequence[Past], kept: Kept) -> frozenset[str]:
    """Return the ids of the turns and summaries that are sent as they were said."""
    return frozenset(past[index].id for index in kept.indices if index not in kept.altered)


def standing_code(memory: Memory, standing: frozenset[str]) -> str | None:
    """Return why a memory need not be sent beside these turns and summaries; None when it says something more."""
    if memory.id in standing:
        return "in_history"
    turns = memory.source.turns
    if not turns or not standing.issuperset(turns):
        return None
    match memory.kind:
        case Kind.PASSAGE:
            return "in_history"
        case Kind.SUMMARY:
            return "redundant_summary"
        case _:
            return None


def without_repeats(candidates: Sequence[Candidate], standing: frozenset[str]) -> list[Candidate]:
    """Return the candidates, those marked that repeat what stands in the prompt."""
    if not standing:
        return list(candidates)
    return [
        one
        if one.filtered or (code := standing_code(one.memory, standing)) is None
        else structs.replace(one, filtered=code)
        for one in candidates
    ]
