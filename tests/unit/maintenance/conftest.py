"""A desk over the in-memory store, with a clock that a test sets and ids that count up."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from haversack.engine.core import Core
from haversack.engine.settings import Settings
from haversack.maintenance.run import Desk
from haversack.model.memory import Kind, Memory
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch
from haversack.tokens import counter_for

START = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, **span: float) -> None:
        self.now += timedelta(**span)


@dataclass
class Bench:
    """A store, a desk on its namespace `n`, and shorthand for writing memories."""

    store: MemoryStore = field(default_factory=MemoryStore)
    clock: Clock = field(default_factory=Clock)
    ids: count[int] = field(default_factory=lambda: count(1))

    @property
    def desk(self) -> Desk:
        return Desk(store=self.store, namespace="n", clock=self.clock, new_id=lambda: f"R{next(self.ids):025}")

    def memory(self, number: int, content: str = "", **fields: object) -> Memory:
        made = Memory(
            id=f"{number:026}",
            kind=Kind.FACT,
            content=content or f"statement {number}",
            created_at=START,
            event_time=START,
            **fields,  # pyright: ignore[reportArgumentType]
        )
        self.store.apply("n", Batch(memories=(made,)))
        return self.row(number)

    def row(self, number: int) -> Memory:
        return self.store.memories("n", [f"{number:026}"])[0]

    def stages(self) -> dict[int, str]:
        return {int(memory.id): str(memory.stage) for memory in self.store.changes("n").memories}


@pytest.fixture
def at() -> Bench:
    return Bench()


@pytest.fixture
def clock() -> list[timedelta]:
    """How much later than START it is."""
    return [timedelta()]


@pytest.fixture
def engine(clock: list[timedelta]) -> Core:
    """An engine over the in-memory store, whose clock a test moves and whose ids count up."""
    store, drawn = MemoryStore(), count(1)
    return Core(
        store=store,
        recall=Recall(store),
        embedder=None,
        settings=Settings(),
        clock=lambda: START + clock[0],
        entropy=lambda size: (next(drawn) << 40).to_bytes(size, "big"),
        counter=counter_for,
    )
