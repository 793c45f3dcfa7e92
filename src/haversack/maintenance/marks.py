"""What maintenance may change in a memory: its stage and its links, never its words. Values for the journal. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime

from haversack.model.memory import Memory, Stage

__all__ = ["Change", "Marks", "changes_between", "marks_of", "with_marks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The fields of one memory that maintenance writes."""

    stage: Stage
    superseded_by: str | None = None
    valid_to: datetime | None = None
    deleted_at: datetime | None = None
    stage_before: Stage | None = None
    duplicate_of: str | None = None


_NAMES = tuple(each.name for each in fields(Marks))


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
    return Marks(**{name: getattr(memory, name) for name in _NAMES})


def with_marks(memory: Memory, marks: Marks) -> Memory:
    """The memory with these marks and everything else as it is."""
    return replace(memory, **{name: getattr(marks, name) for name in _NAMES})


def changes_between(before: Mapping[str, Memory], after: tuple[Memory, ...]) -> tuple[Change, ...]:
    """What the journal keeps of a step that writes `after`; memories that are new are left out."""
    return tuple(
        Change(memory=memory.id, before=marks_of(before[memory.id]), after=marks_of(memory))
        for memory in after
        if memory.id in before
    )
