"""A memory, a turn and a session: the three things that a store keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Never, TypeAlias

from haversack.model.message import Message

__all__ = [
    "Fields",
    "Json",
    "Kind",
    "Memory",
    "Metadata",
    "SessionInfo",
    "Source",
    "Stage",
    "Trust",
    "Turn",
    "successors_of",
]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Metadata: TypeAlias = Mapping[str, Json]


class Fields(dict[str, Json]):
    """Metadata as memories and turns hold it: a dict that refuses to change, for several readers share it."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> Never:
        raise TypeError("metadata does not change in place: copy it with dict(), or change the memory with edit()")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type[Fields], tuple[dict[str, Json]]]:
        """Copies and pickles are made of the plain dict."""
        return Fields, (dict(self),)


_EMPTY: Metadata = Fields()


class Kind(StrEnum):
    """What sort of thing a memory is; layouts choose by it."""

    PASSAGE = "passage"
    """Words as they were said or written: a turn of a session or a chunk of a document."""
    FACT = "fact"
    PROFILE = "profile"
    ENTITY = "entity"
    RELATION = "relation"
    DECISION = "decision"
    INSIGHT = "insight"
    PROCEDURE = "procedure"
    CORRECTION = "correction"
    SUMMARY = "summary"
    STATE = "state"


class Trust(StrEnum):
    """How a memory came to be believed; a later word in this list yields to an earlier one."""

    CORRECTION = "correction"
    MANUAL = "manual"
    VERIFIED = "verified"
    EXTRACTED = "extracted"


class Stage(StrEnum):
    """Where a memory stands in its life."""

    ACTIVE = "active"
    LONG_TERM = "long_term"
    DECAYED = "decayed"
    DELETED = "deleted"
    """Softly forgotten: kept, never recalled, can be restored until retention ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory came from; a forgotten source takes what was derived from it along."""

    session: str | None = None
    turns: tuple[str, ...] = ()
    """Ids of the turns that it was said in, or that it summarises."""
    memories: tuple[str, ...] = ()
    """Ids of the memories that it was derived from."""
    document: str | None = None
    """Title or address of the document that it is a chunk of."""
    part: tuple[int, int] | None = None
    """Its place among the chunks of that turn or document: (index from 0, how many)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One remembered thing."""

    id: str
    """26 characters, sorts by time of creation, unique in its namespace."""
    kind: Kind
    content: str
    created_at: datetime
    """When it was stored (aware, UTC)."""
    event_time: datetime
    """When it was said or happened; recency and dates in queries go by this one."""
    speaker: str = ""
    """Who said it, for passages: the turn's name, or else its role."""
    importance: float = 0.5
    confidence: float = 1.0
    trust: Trust = Trust.MANUAL
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=lambda: _EMPTY)
    pinned: bool = False
    source: Source = Source()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: str | None = None
    stage: Stage = Stage.ACTIVE
    deleted_at: datetime | None = None
    """When it was softly deleted; retention counts from here."""
    stage_before: Stage | None = None
    """The stage that it goes back to when the deletion is undone."""
    duplicate_of: str | None = None
    """Of a hidden duplicate: the statement that it repeats, and goes with when that is erased."""
    access_count: int = 0
    accessed_at: datetime | None = None
    born: int = 0
    """Its place in the namespace's order of arrival; the store assigns it, it never changes."""
    changed: int = 0
    """The namespace's change sequence when it was last written; the store assigns it."""

    def __post_init__(self) -> None:
        """Metadata refuses to change, whatever mapping it was made of."""
        if type(self.metadata) is not Fields:
            object.__setattr__(self, "metadata", Fields(self.metadata))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message as it was appended to a session; turns are never altered, only erased by a hard forget."""

    id: str
    session: str
    message: Message
    at: datetime
    """When it was said."""
    metadata: Metadata = field(default_factory=lambda: _EMPTY)
    key: str | None = None
    """What makes it the same turn when it is appended again (an import run twice); unique in its session."""
    position: int = -1
    """Its place in the session, from 0; the store assigns it."""

    def __post_init__(self) -> None:
        """As with a memory."""
        if type(self.metadata) is not Fields:
            object.__setattr__(self, "metadata", Fields(self.metadata))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A session in brief."""

    id: str
    turns: int
    first_at: datetime
    last_at: datetime


def successors_of(memories: Iterable[Memory]) -> tuple[str, ...]:
    """Return the ids of what some of these stand behind, of those that are not among them."""
    rows = {memory.id: memory for memory in memories}
    return tuple(sorted({one.superseded_by for one in rows.values() if one.superseded_by}.difference(rows)))
