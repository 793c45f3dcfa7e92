"""Uses: noted cheaply, counted once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from threading import Event

import pytest

from haversack.engine import access
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.errors import BusyError
from haversack.model.memory import Kind, Memory
from haversack.store.memory import MemoryStore
from haversack.store.port import Applied, Batch, Erasure


@pytest.fixture
def sack(engine: Core) -> Iterator[Haversack]:
    with Haversack(engine) as opened:
        yield opened


def test_recall_and_context_note_what_they_give_and_flush_counts_it_once(sack: Haversack, engine: Core) -> None:
    ns = sack.namespace("n")
    kept = ns.remember("Alice prefers metric units")
    assert [hit.id for hit in ns.recall("metric units")] == [kept.id]
    assert ns.context("metric units", budget=100).items == (kept.id,)
    assert ns.get(kept.id).access_count == 0
    assert ns.maintenance.flush() == 2
    used = ns.get(kept.id)
    assert (used.access_count, used.accessed_at) == (2, engine.clock())
    assert ns.maintenance.flush() == 0
    assert ns.get(kept.id) == used


def test_a_question_about_another_moment_uses_nothing(sack: Haversack) -> None:
    ns = sack.namespace("n")
    ns.remember("Alice prefers metric units")
    ns.recall("metric units", now="2027-01-01")
    assert ns.maintenance.flush() == 0


def test_uses_spill_when_many_have_gathered_or_a_minute_has_passed(engine: Core, clock: list[timedelta]) -> None:
    log, names = engine.access, [str(number) for number in range(499)]
    at = engine.clock()
    rows = (
        Memory(id=name, kind=Kind.FACT, content=name, created_at=at, event_time=at) for name in (*names, "last", "a")
    )
    engine.store.apply("n", Batch(memories=tuple(rows)))
    log.note(engine, "n", names, engine.clock())
    assert engine.store.records("n", "access") == []
    log.note(engine, "n", ["last"], engine.clock())
    log.wait()
    assert len(engine.store.records("n", "access")) == 1
    log.note(engine, "n", ["a"], engine.clock())
    clock[0] += timedelta(minutes=1)
    log.note(engine, "n", ["a"], engine.clock())
    log.wait()
    assert len(engine.store.records("n", "access")) == 2


def _rows_of(engine: Core, count: int) -> list[str]:
    """So many stored memories, by id."""
    names, at = [f"m{number}" for number in range(count)], engine.clock()
    rows = (Memory(id=name, kind=Kind.FACT, content=name, created_at=at, event_time=at) for name in names)
    engine.store.apply("n", Batch(memories=tuple(rows)))
    return names


def test_who_asks_waits_for_no_write(engine: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    names, apply, noted = _rows_of(engine, 500), MemoryStore.apply, Event()

    def late(store: MemoryStore, namespace: str, batch: Batch) -> Applied:
        assert noted.wait(30)
        return apply(store, namespace, batch)

    monkeypatch.setattr(MemoryStore, "apply", late)
    engine.access.note(engine, "n", names, engine.clock())
    noted.set()
    engine.access.wait()
    assert len(engine.store.records("n", "access")) == 1


def test_a_spill_reads_no_row_however_long_the_journal_is(engine: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    names = _rows_of(engine, 500)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("rows are read")

    for verb in ("memories", "records", "record", "select"):
        monkeypatch.setattr(MemoryStore, verb, refuse)
    for _ in range(20):
        engine.access.note(engine, "n", names, engine.clock())
        engine.access.wait()
    monkeypatch.undo()
    assert len(engine.store.records("n", "access")) == 20


def test_what_was_used_and_is_gone_leaves_no_use(sack: Haversack, engine: Core) -> None:
    ns = sack.namespace("n")
    one, two = ns.remember("Alice prefers metric units"), ns.remember("Bob prefers imperial units")
    ns.recall("units")
    engine.store.apply("n", Batch(erase=Erasure(memories=(one.id,))))
    engine.access.spill(engine, "n")
    assert one.id.encode() not in b"".join(record.value for record in engine.store.records("n", "access"))
    assert ns.maintenance.flush() == 1
    assert ns.get(two.id).access_count == 1


def _stay_open(_store: MemoryStore) -> None: ...


def test_closing_spills_and_another_process_counts(engine: Core) -> None:
    store = engine.store
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryStore, "close", _stay_open)
        with Haversack(engine) as sack:
            kept = sack.namespace("n").remember("Alice prefers metric units")
            sack.namespace("n").recall("units")
    assert len(store.records("n", "access")) == 1
    assert access.flush(engine, "n") == 1
    assert store.memories("n", [kept.id])[0].access_count == 1
    assert store.records("n", "access") == []


def test_an_erased_memory_leaves_the_journal_too(sack: Haversack, engine: Core) -> None:
    ns = sack.namespace("n")
    one, two = ns.remember("Alice prefers metric units"), ns.remember("Bob prefers imperial units")
    ns.recall("units")
    engine.access.spill(engine, "n")
    ns.recall("units")
    access.drop(engine, "n", [one.id])
    assert one.id.encode() not in b"".join(record.value for record in engine.store.records("n", "access"))
    assert ns.maintenance.flush() == 2
    assert (ns.get(one.id).access_count, ns.get(two.id).access_count) == (0, 2)


def test_a_busy_store_keeps_uses_waiting(sack: Haversack, engine: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    ns = sack.namespace("n")
    ns.remember("Alice prefers metric units")
    ns.recall("units")
    apply = MemoryStore.apply

    def busy(_store: MemoryStore, _namespace: str, _batch: Batch) -> Applied:
        raise BusyError("busy")

    monkeypatch.setattr(MemoryStore, "apply", busy)
    with pytest.raises(BusyError):
        ns.maintenance.flush()
    monkeypatch.setattr(MemoryStore, "apply", apply)
    assert ns.maintenance.flush() == 1


def test_what_is_used_while_the_store_is_busy_is_counted_too(engine: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,), apply = _rows_of(engine, 1), MemoryStore.apply

    def busy(_store: MemoryStore, _namespace: str, _batch: Batch) -> Applied:
        engine.access.note(engine, "n", [name], engine.clock())
        raise BusyError("busy")

    engine.access.note(engine, "n", [name], engine.clock())
    monkeypatch.setattr(MemoryStore, "apply", busy)
    with pytest.raises(BusyError):
        engine.access.spill(engine, "n")
    monkeypatch.setattr(MemoryStore, "apply", apply)
    assert access.flush(engine, "n") == 2
