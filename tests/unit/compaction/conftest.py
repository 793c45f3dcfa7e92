from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from haversack.compaction.compactor import Compactor
from haversack.compaction.settings import CompactionConfig
from haversack.compaction.summarize import Summarizer
from haversack.llm.port import ChatService
from haversack.model.memory import Turn
from haversack.model.message import Message, Role, Text, ToolCall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch
from haversack.testing.words import WordCounter

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def say() -> Callable[..., Message]:
    def make(role: str, text: str, *, calls: Sequence[str] = (), answers: str | None = None) -> Message:
        return Message(
            role=Role(role),
            parts=(Text(text),) if text else (),
            tool_calls=tuple(ToolCall(id=call, name="look", arguments="{}") for call in calls),
            tool_call_id=answers,
        )

    return make


@pytest.fixture
def talk(say: Callable[..., Message]) -> Callable[..., list[Message]]:
    """Alternating messages of a number of words, the first of which says which message it is."""

    def make(count: int, size: int = 10) -> list[Message]:
        blah = " blah" * (size - 1)
        return [say(("user", "assistant")[place % 2], f"m{place}{blah}") for place in range(count)]

    return make


@pytest.fixture
def turns_of() -> Callable[[Sequence[Message]], list[Turn]]:
    def make(messages: Sequence[Message]) -> list[Turn]:
        return [
            Turn(id=f"t{place}", session="s", message=message, at=START + timedelta(minutes=place), position=place)
            for place, message in enumerate(messages)
        ]

    return make


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def append(store: MemoryStore) -> Callable[[Sequence[Message]], None]:
    def add(messages: Sequence[Message]) -> None:
        before = len(store.turns("n", "s"))
        turns = [
            Turn(id=f"t{place}", session="s", message=message, at=START + timedelta(minutes=place))
            for place, message in enumerate(messages, before)
        ]
        store.apply("n", Batch(turns=tuple(turns)))

    return add


@pytest.fixture
def compactor(store: MemoryStore) -> Callable[..., Compactor]:
    def make(
        service: ChatService | None = None, config: CompactionConfig | None = None, **changes: object
    ) -> Compactor:
        settings = config or CompactionConfig()
        numbers = iter(range(1, 1_000_000))

        def entropy(size: int) -> bytes:
            return next(numbers).to_bytes(size, "big")

        def price(messages: Sequence[Message]) -> list[int]:
            return [len(message.text.split()) for message in messages]

        made: dict[str, object] = {
            "store": store,
            "namespace": "n",
            "summarizer": Summarizer.of(settings, WordCounter(), service),
            "config": settings,
            "clock": lambda: START + timedelta(days=1),
            "price": price,
            "owner": "me",
            "entropy": entropy,
        }
        return Compactor(**(made | changes))  # pyright: ignore[reportArgumentType]

    return make
