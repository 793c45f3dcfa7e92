"""What one prompt of the `cached` layout leaves for the next: where history begins, and the notes that stand in it.

Law: the bytes before the tail do not change between calls unless a named event changed them. So memories are not
repacked at every call: they stand as notes where they were first shown, and a new call adds only what is new, at the
tail. When the notes or the history outgrow their part, both are cut well below it at once (hysteresis), as an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.assemble.fit import Kept
from haversack.assemble.history import Past
from haversack.model.message import Message, Role, Text

__all__ = ["Anchor", "Note", "interleaved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Memories as they were shown once."""

    before: int
    """Index in the history of the turn in front of which it stands."""
    text: str
    memories: tuple[str, ...]
    tokens: int
    """Of the whole message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The state of a cached prompt: a value; keep it beside the session."""

    start: int = 0
    """Index of the first turn that is sent."""
    notes: tuple[Note, ...] = ()
    length: int = 0
    """How many turns the history had."""
    last: str = ""
    """The id of the last of them, by which a rewritten history is noticed."""
    system: str = ""

    def holds_for(self, history: Sequence[Past], system: str) -> str | None:
        """None when the history only grew since; otherwise the name of the event that ends it."""
        if system != self.system:
            return "system_changed"
        if len(history) < self.length or (self.length and history[self.length - 1].id != self.last):
            return "history_rewritten"
        return None

    @property
    def shown(self) -> frozenset[str]:
        """Ids of the memories that stand in the notes."""
        return frozenset(memory for note in self.notes for memory in note.memories)

    @property
    def tokens(self) -> int:
        """Of all notes."""
        return sum(note.tokens for note in self.notes)


def interleaved(kept: Kept, notes: Sequence[Note]) -> list[Message]:
    """Return the history with each note in front of the turn where it was first shown."""
    waiting = list(notes)
    talk: list[Message] = []
    for place, message in zip(kept.places, kept.messages, strict=True):
        while waiting and waiting[0].before <= place:
            talk.append(Message(role=Role.USER, parts=(Text(waiting.pop(0).text),)))
        talk.append(message)
    return [*talk, *(Message(role=Role.USER, parts=(Text(note.text),)) for note in waiting)]
