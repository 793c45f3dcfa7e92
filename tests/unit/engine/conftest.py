"""An engine over the in-memory store, with a clock and an entropy that repeat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Store
from haversack.tokens import counter_for

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass
class Ticking:
    """Each look at the clock is a second later than the one before."""

    now: datetime = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass
class Counting:
    """Bytes that count up instead of being random."""

    drawn: int = 0

    def __call__(self, size: int) -> bytes:
        self.drawn += 1
        return (self.drawn << 40).to_bytes(size, "big")


def engine_over(store: Store, **settings: object) -> Haversack:
    return Haversack(
        Core(
            store=store,
            recall=Recall(store),
            embedder=None,
            settings=Settings(**settings),  # pyright: ignore[reportArgumentType]
            clock=Ticking(),
            entropy=Counting(),
            counter=counter_for,
        )
    )


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def sack(store: MemoryStore) -> Haversack:
    return engine_over(store)


@pytest.fixture
def ns(sack: Haversack) -> Namespace:
    return sack.namespace("alice")


@pytest.fixture
def engine() -> Callable[..., Haversack]:
    return engine_over
