"""What a caller may do in a minute is counted once, whichever engine lends it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Settings
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import SYSTEM
from haversack.tokens import counter_for

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Watch:
    """The time, which passes when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def opened(store: MemoryStore, watch: Watch) -> Haversack:
    return Haversack(
        Core(
            store=store,
            recall=Recall(store),
            embedder=None,
            settings=Settings(),
            clock=watch,
            entropy=bytes,
            counter=counter_for,
        )
    )


def test_two_engines_lend_of_one_allowance_that_refills_evenly(store: MemoryStore, watch: Watch) -> None:
    one, other = opened(store, watch), opened(store, watch)

    def lent(sack: Haversack, wanted: int, name: str = "k") -> tuple[int, int, int]:
        found = sack.allowances.lend(name, 60, wanted)
        return found.granted, found.left, found.seconds

    assert (lent(one, 20), lent(other, 30), lent(one, 20)) == ((20, 40, 0), (30, 10, 0), (10, 0, 0))
    assert (lent(other, 1), lent(other, 1, "K")) == ((0, 0, 2), (1, 59, 0))
    watch.now += timedelta(seconds=1.5)
    assert (lent(other, 5), lent(one, 5)) == ((1, 0, 0), (0, 0, 1))
    watch.now -= timedelta(hours=1)
    assert lent(one, 5) == (0, 0, 1)
    watch.now += timedelta(hours=2)
    assert lent(one, 70) == (60, 0, 0)


def test_allowances_that_are_full_again_are_not_kept(store: MemoryStore, watch: Watch) -> None:
    sack = opened(store, watch)
    for number in range(60):
        sack.allowances.lend(f"once {number}", 10, 1)
    assert len(store.records(SYSTEM, "allowance")) == 60
    watch.now += timedelta(minutes=2)
    for _ in range(4):
        sack.allowances.lend("often", 10, 1)
    assert len(store.records(SYSTEM, "allowance")) == 1
