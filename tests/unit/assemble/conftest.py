"""Memories and messages in few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from haversack.assemble import Candidate, ModelPricer, Past
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source, Stage
from haversack.model.message import Message, Part, Role, Text, ToolCall
from haversack.testing.words import WordCounter
from haversack.tokens import Counter, counter_for

START = datetime(2023, 5, 8, 9, tzinfo=UTC)


MakeMemory = Callable[..., Memory]
MakeCandidate = Callable[..., Candidate]


@pytest.fixture
def words() -> Counter:
    return WordCounter()


@pytest.fixture
def exact() -> Counter:
    return counter_for("cl100k_base")


@pytest.fixture
def pricer(exact: Counter) -> ModelPricer:
    return ModelPricer(counter=exact)


@pytest.fixture
def make_memory() -> MakeMemory:
    return _memory


@pytest.fixture
def make_candidate() -> MakeCandidate:
    def make(content: str, score: float = 0.5, **details: object) -> Candidate:
        return Candidate(memory=_memory(content, **details), score=score)  # pyright: ignore[reportArgumentType]

    return make


def _memory(  # noqa: PLR0913 - the fields that tests speak of
    content: str,
    *,
    number: int = 0,
    kind: Kind = Kind.FACT,
    speaker: str = "",
    session: str | None = None,
    document: str | None = None,
    hours: float = 0,
    importance: float = 0.5,
    pinned: bool = False,
    turns: tuple[str, ...] = (),
    stage: Stage = Stage.ACTIVE,
    superseded_by: str | None = None,
) -> Memory:
    at = START + timedelta(hours=hours)
    return Memory(
        id=make_id(START, number.to_bytes(10, "big")),
        kind=kind,
        content=content,
        created_at=at,
        event_time=at,
        speaker=speaker,
        importance=importance,
        pinned=pinned,
        source=Source(session=session, document=document, turns=turns),
        stage=stage,
        superseded_by=superseded_by,
        born=number,
    )


def said(role: Role, *parts: str | Part, calls: Sequence[str] = (), answers: str | None = None) -> Message:
    """A message in few words."""
    return Message(
        role=role,
        parts=tuple(Text(part) if isinstance(part, str) else part for part in parts),
        tool_calls=tuple(ToolCall(id=name, name="look", arguments="{}") for name in calls),
        tool_call_id=answers,
    )


def past(*messages: Message) -> list[Past]:
    return [Past(message=message, id=f"t{number}") for number, message in enumerate(messages)]


@pytest.fixture
def say() -> Callable[..., Message]:
    return said


@pytest.fixture
def as_past() -> Callable[..., list[Past]]:
    return past
