from __future__ import annotations

from datetime import UTC, datetime, timedelta

from haversack.store import lease
from haversack.store.memory import MemoryStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
END = NOW + timedelta(seconds=60)


def test_a_lease_holds_up_to_the_moment_of_its_end_and_no_longer() -> None:
    store, last = MemoryStore(), END - timedelta(microseconds=1)
    assert lease.acquire(store, "n", "k", owner="one", now=NOW, seconds=60) is not None
    assert lease.held_by(store, "n", "k", last) == "one"
    assert lease.acquire(store, "n", "k", owner="two", now=last, seconds=60) is None
    assert lease.held_by(store, "n", "k", END) is None
    assert lease.acquire(store, "n", "k", owner="two", now=END, seconds=60) is not None
