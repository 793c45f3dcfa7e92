"""What maintenance may change in a memory: its stage and its links, never its words. Values for the journal. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from haversack.model.memory import Memory, Stage

__all__ = ["Change", "Marks", "changes_between", "marks_of", "with_marks"]

_OWNED = ("haversack.deleted_at", "haversack.stage_before", "haversack.duplicate_of")
"""Metadata fields that maintenance writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The fields of one memory that maintenance writes."""

    stage: Stage
    superseded_by: str | None = None
    valid_to: datetime | None = None
    metadata: Mapping[str, int | str] = field(default_factory=dict[str, int | str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One memory before and after a step."""

    memory: str
    before: Marks
    after: Marks
    stage_alone: bool = False
    """The step wrote the stage and nothing else, of a memory that nothing superseded; other marks say nothing here."""

    def stands_in(self, memory: Memory) -> bool:
        """Whether the memory is as the step left it."""
        if self.stage_alone:
            return memory.stage is self.after.stage and memory.superseded_by is None
        return marks_of(memory) == self.after

    def undone_in(self, memory: Memory) -> Memory:
        """The memory with what the step changed as it was before."""
        return replace(memory, stage=self.before.stage) if self.stage_alone else with_marks(memory, self.before)


def marks_of(memory: Memory) -> Marks:
    """The memory's marks as they are."""
    found = ((key, memory.metadata.get(key)) for key in _OWNED)
    owned = {key: value for key, value in found if isinstance(value, int | str)}
    return Marks(stage=memory.stage, superseded_by=memory.superseded_by, valid_to=memory.valid_to, metadata=owned)


def with_marks(memory: Memory, marks: Marks) -> Memory:
    """The memory with these marks and everything else as it is."""
    kept = {key: value for key, value in memory.metadata.items() if key not in _OWNED}
    return replace(
        memory,
        stage=marks.stage,
        superseded_by=marks.superseded_by,
        valid_to=marks.valid_to,
        metadata={**kept, **marks.metadata},
    )


def changes_between(before: Mapping[str, Memory], after: tuple[Memory, ...]) -> tuple[Change, ...]:
    """What the journal keeps of a step that writes `after`; memories that are new are left out."""
    return tuple(
        Change(memory=memory.id, before=marks_of(before[memory.id]), after=marks_of(memory))
        for memory in after
        if memory.id in before
    )
