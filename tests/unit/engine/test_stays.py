"""Stays end by pause, by age and by crowding, and hold for every engine of a store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.store.port import SYSTEM
from haversack.store.sqlite.store import SqliteStore

NOW = datetime(2026, 11, 1, 8, tzinfo=UTC)


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    with haversack.open(tmp_path / "memory.db", embedder="none") as opened:
        yield opened


def found(sack: Haversack, cookie: str, hours: float) -> str | None:
    stay = sack.stays.find(cookie, NOW + timedelta(hours=hours))
    return None if stay is None else stay.key


def test_a_stay_holds_in_every_engine_and_ends_in_all(sack: Haversack, tmp_path: Path) -> None:
    with haversack.open(tmp_path / "memory.db", embedder="none") as other:
        assert other.stays.mark == sack.stays.mark
        sack.stays.begin("c", "k", "key", NOW)
        assert (found(other, "c", 1), found(other, "C", 1)) == ("k", None)
        other.stays.end("c")
        assert (found(sack, "c", 1), found(other, "c", 1)) == (None, None)


def test_a_stay_of_one_process_is_unknown_to_others(sack: Haversack, tmp_path: Path) -> None:
    with haversack.open(tmp_path / "memory.db", embedder="none") as other:
        sack.stays.begin("c", "k", "token", NOW, here=True)
        assert (found(sack, "c", 1), found(other, "c", 1)) == ("k", None)
        sack.stays.end("c")
        assert found(sack, "c", 1) is None


@pytest.mark.parametrize("where", ["here", "in the store"])
def test_a_stay_ends_after_a_pause_and_after_a_day(sack: Haversack, where: str) -> None:
    for cookie in ("idle", "busy"):
        sack.stays.begin(cookie, "k", "key", NOW, here=where == "here")
    assert [found(sack, "busy", hours) for hours in (11, 22, 24, 24.1)] == ["k", "k", "k", None]
    assert (found(sack, "idle", 12.1), found(sack, "idle", 1)) == (None, "k")


def test_the_store_keeps_a_hash_of_each_and_what_is_over_goes_with_the_next(sack: Haversack) -> None:
    for number in range(3):
        sack.stays.begin(f"cookie {number}", "k", "key", NOW + timedelta(hours=9 * number))
    records = sack._core.store.records(SYSTEM, "stay")
    assert len(records) == 2
    assert not any("cookie" in record.key or b"cookie" in record.value for record in records)


def test_a_store_that_is_read_only_keeps_stays_in_the_process(sack: Haversack, tmp_path: Path) -> None:
    store = sack._core.store
    assert isinstance(store, SqliteStore)
    store.read_only = True
    assert len(sack.stays.mark) == 8
    sack.stays.begin("c", "k", "key", NOW)
    assert found(sack, "c", 1) == "k"
    with haversack.open(tmp_path / "memory.db", embedder="none") as other:
        assert found(other, "c", 1) is None
    sack.stays.end("c")
    assert found(sack, "c", 1) is None
