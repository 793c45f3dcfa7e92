from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from haversack.model.memory import Fields, Memory
from haversack.recall import Recall
from haversack.recall.rows import Rows
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure

Put = Callable[..., list[Memory]]
NOW = datetime(2024, 6, 1, tzinfo=UTC)


class Counting(MemoryStore):
    """Notes which memories are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        self.read += ids
        return super().memories(namespace, ids)


@pytest.fixture
def store() -> Counting:
    return Counting()


def _id(memory: Memory | None) -> str | None:
    return memory and memory.id


def test_a_memory_is_read_once(store: Counting, put: Put) -> None:
    first, second = put(["a ferry", "another ferry"])
    rows = Rows(store, "n", 100_000)
    assert [_id(memory) for memory in rows.get([second.id, first.id])] == [second.id, first.id]
    assert [_id(memory) for memory in rows.get([first.id, "nobody", second.id])] == [first.id, None, second.id]
    assert store.read == [second.id, first.id, "nobody"]


def test_what_was_not_asked_for_lately_is_read_again(store: Counting, put: Put) -> None:
    ids = [memory.id for memory in put(["x" * 1500] * 10)]  # 4,000 bytes each: five fill a half of 20,000
    rows = Rows(store, "n", 40_000)
    for each in ids:
        rows.get([ids[0], each])
        assert rows.nbytes <= 40_000
    store.read.clear()
    rows.get(ids)
    assert ids[0] not in store.read
    assert ids[3] in store.read


def test_metadata_that_its_reader_could_change_is_read_each_time(store: Counting, put: Put) -> None:
    (memory,) = put(["a ferry"])
    store.apply("n", Batch(memories=(replace(memory, metadata=Fields(route=["Oslo"])),)))
    rows = Rows(store, "n", 100_000)
    rows.get([memory.id])
    rows.get([memory.id])
    assert store.read == [memory.id, memory.id]


def test_a_hit_is_the_memory_as_it_stands_now(store: Counting, put: Put) -> None:
    recall = Recall(store)
    (memory,) = put(["The ferry leaves at nine"])
    assert recall.search(["n"], "ferry", now=NOW, top_k=1)[0].memory.importance == memory.importance
    store.apply("n", Batch(memories=(replace(memory, importance=0.9),)))
    assert recall.search(["n"], "ferry", now=NOW, top_k=1)[0].memory.importance == 0.9
    store.apply("n", Batch(erase=Erasure(memories=(memory.id,))))
    assert recall.search(["n"], "ferry", now=NOW, top_k=1) == []
