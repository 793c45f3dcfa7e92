"""What an extractor wants done, as values; and what of its raw output cannot be done, with the reason. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import cast

from haversack.errors import nearest
from haversack.model.memory import Json, Kind

__all__ = ["Action", "Event", "Skipped", "read_actions"]

_KINDS = frozenset(
    {Kind.FACT, Kind.PROFILE, Kind.ENTITY, Kind.RELATION, Kind.DECISION, Kind.INSIGHT, Kind.PROCEDURE, Kind.CORRECTION}
)
_DEFAULT_IMPORTANCE = 0.5


class Event(StrEnum):
    """What is to happen."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    """A new wording takes the place of an existing statement."""
    DELETE = "DELETE"
    """An existing statement is no longer true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One valid wish."""

    event: Event
    kind: Kind = Kind.FACT
    text: str = ""
    subject: str = ""
    """What it is about, like `alice/city`; empty when a newer statement would not end it."""
    evidence: str = ""
    """The words it rests on, as they were said."""
    target: str = ""
    """Id of the existing memory, for UPDATE and DELETE."""
    importance: float = _DEFAULT_IMPORTANCE
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """One wish that was not carried out; the others were."""

    index: int
    id: str | None
    """The id that it named."""
    reason: str


def read_actions(raw: Sequence[object], shown: Mapping[str, str]) -> tuple[list[tuple[int, Action]], list[Skipped]]:
    """The valid actions with their places, and the rest with reasons.

    `shown` maps the ids that the extractor was shown to memory ids. An id that it was not shown is never resolved.
    """
    valid: list[tuple[int, Action]] = []
    skipped: list[Skipped] = []
    for index, item in enumerate(raw):
        outcome = _read(item, shown)
        if isinstance(outcome, Action):
            valid.append((index, outcome))
        else:
            skipped.append(Skipped(index=index, id=_id(item), reason=outcome))
    return valid, skipped


def _read(item: object, shown: Mapping[str, str]) -> Action | str:
    if not isinstance(item, dict):
        return "not an object"
    fields = cast("dict[str, Json]", item)
    event = _event(fields.get("event"))
    if not isinstance(event, Event):
        return event
    text = _text(fields.get("text")).strip()
    given = _id(cast("object", item))
    if event is not Event.ADD and (given is None or given not in shown):
        return "unknown id"
    if event is not Event.DELETE and not text:
        return "no text"
    kind = _text(fields.get("kind")).lower() or Kind.FACT
    if kind not in _KINDS:
        return f"unknown kind {kind!r}; {nearest(kind, _KINDS)}"
    return Action(
        event=event,
        kind=Kind(kind),
        text=text,
        subject=_text(fields.get("subject")).casefold().strip(),
        evidence=_text(fields.get("evidence")),
        target="" if event is Event.ADD else shown[given or ""],
        importance=_share(fields.get("importance")),
        entities=_names(fields.get("entities")),
    )


def _event(name: Json) -> Event | str:
    if not isinstance(name, str):
        return "no event"
    known = Event.__members__.get(name.upper())
    return known or f"unknown event {name!r}; known: ADD, UPDATE, DELETE"


def _id(item: object) -> str | None:
    if not isinstance(item, dict):
        return None
    given = cast("dict[str, Json]", item).get("id")
    return str(given) if isinstance(given, str | int) and not isinstance(given, bool) else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _names(value: Json) -> tuple[str, ...]:
    return tuple(name for name in value if isinstance(name, str) and name) if isinstance(value, list) else ()


def _share(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return _DEFAULT_IMPORTANCE
    return min(1.0, max(0.0, float(value)))
