"""The bundled conversation of `haversack demo` and the questions asked of it, as typed values read from the package.

A story of our own: from January to September 2026 Mira restores a small sailing boat, and facts change on the way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

from haversack.model.memory import Json, Metadata
from haversack.model.message import Message
from haversack.model.times import read_time
from haversack.wire.openai import load
from haversack.wire.shape import as_items, as_record, as_text

__all__ = ["DemoQuestion", "DemoSession", "DemoTurn", "questions", "sessions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoTurn:
    """One message of the story."""

    message: Message
    at: datetime
    metadata: Metadata
    """`turn` is its place: `S14:11` is the eleventh turn of the fourteenth session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSession:
    """One sitting: its turns in order."""

    session: str
    at: datetime
    turns: tuple[DemoTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """Something to ask at the end of the story."""

    id: str
    question: str
    answer: str
    """What a reader of the whole conversation would say."""
    evidence: tuple[str, ...]
    """The turns that a context must carry for the answer, by `metadata["turn"]`; all of them are needed."""
    shown: bool
    """Whether the demo asks it; the others are for play."""


def sessions() -> Iterator[DemoSession]:
    """The sessions, oldest first."""
    for number, line in enumerate(_read("conversation.jsonl").splitlines(), start=1):
        yield _load_session(json.loads(line), f"line {number}")


def questions() -> tuple[DemoQuestion, ...]:
    """All questions, those that the demo shows first."""
    listed = as_items(json.loads(_read("questions.json")), "questions")
    return tuple(_load_question(item, f"questions[{index}]") for index, item in enumerate(listed))


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def _load_session(obj: object, path: str) -> DemoSession:
    record = as_record(obj, path)
    turns = as_items(record.get("turns"), f"{path}.turns")
    return DemoSession(
        session=as_text(record.get("session"), f"{path}.session"),
        at=_load_time(record.get("at"), f"{path}.at"),
        turns=tuple(_load_turn(item, f"{path}.turns[{index}]") for index, item in enumerate(turns)),
    )


def _load_turn(obj: Json, path: str) -> DemoTurn:
    record = as_record(obj, path)
    return DemoTurn(
        message=load(record, path),
        at=_load_time(record.get("at"), f"{path}.at"),
        metadata=as_record(record.get("metadata"), f"{path}.metadata"),
    )


def _load_question(obj: Json, path: str) -> DemoQuestion:
    record = as_record(obj, path)
    evidence = as_items(record.get("evidence"), f"{path}.evidence")
    return DemoQuestion(
        id=as_text(record.get("id"), f"{path}.id"),
        question=as_text(record.get("question"), f"{path}.question"),
        answer=as_text(record.get("answer"), f"{path}.answer"),
        evidence=tuple(as_text(item, f"{path}.evidence") for item in evidence),
        shown=record.get("shown") is True,
    )


def _load_time(value: Json, path: str) -> datetime:
    return read_time(as_text(value, path), path)
