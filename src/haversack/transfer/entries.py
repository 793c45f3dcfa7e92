"""What reading a file yields: entries to store, and problems to tell. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from haversack.model.memory import Json, Kind, Memory, Turn
from haversack.model.message import Message

__all__ = ["DocumentEntry", "Entry", "MemoryEntry", "Problem", "RecordEntry", "SessionEntry", "TurnDraft", "Value"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDraft:
    """One message of an imported session, ready to become a turn."""

    message: Message
    key: str
    """The same each time this message is imported into this session: a store that has it skips it."""
    at: datetime | None = None
    """None when the file says nothing about time at all: the time of the import stands in."""
    at_guess: bool = False
    """Whether `at` is not the message's own; `metadata["time_from"]` then says whose: the `previous` message's, the
    `conversation`'s or the `import`'s."""
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """Turns to append to a session, in order; a long session may come in several entries."""

    session: str
    turns: tuple[TurnDraft, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEntry:
    """A memory from another system's dump."""

    id: str
    """The same each time the same memory is imported."""
    kind: Kind
    content: str
    at: datetime | None = None
    """When it was said or stored there."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    importance: float = 0.5
    confidence: float = 1.0
    pinned: bool = False
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEntry:
    """A text to cut into passages."""

    key: str
    """The same each time the same file with the same words is imported."""
    title: str
    text: str
    source: str
    """The file's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEntry:
    """A store's record, from our own export."""

    collection: str
    key: str
    value: bytes


Entry: TypeAlias = "SessionEntry | MemoryEntry | DocumentEntry | Memory | Turn | RecordEntry"
"""Whole memories and turns come from our own format only: they are stored exactly as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that could not be read as it stands."""

    file: str
    place: str
    """Where in the file: `line 4`, `element 2`, `conversation c-1`; empty for the file as a whole."""
    message: str
    warning: bool = False
    """Whether it was read all the same, by a documented reading; otherwise this piece is left out."""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.place, self.message) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One JSON value of a file, as readers take it."""

    data: Json
    file: str
    place: str

    def problem(self, message: str, *, warning: bool = False, within: str = "") -> Problem:
        """A problem of this value, or of what stands at `within` in it."""
        place = f"{self.place}, {within}" if within else self.place
        return Problem(file=self.file, place=place, message=message, warning=warning)
