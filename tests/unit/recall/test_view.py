from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from threading import Barrier, Event

import numpy as np
import pytest

from haversack.embed.codec import Quantised
from haversack.model.memory import Memory, Stage
from haversack.model.query import Filter
from haversack.recall import Recall
from haversack.recall.index import Index
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Changes, Erasure, Restage

Put = Callable[..., list[Memory]]
Make = Callable[..., Memory]
NOW = datetime(2024, 6, 1, tzinfo=UTC)
SECONDS = 20
"""After which a thread that waits in vain gives up."""


class Meeting(MemoryStore):
    """A reader of memories waits until another one reads as well."""

    def __init__(self) -> None:
        super().__init__()
        self.barrier = Barrier(2)

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        self.barrier.wait(SECONDS)
        return super().memories(namespace, ids)


class Slow(MemoryStore):
    """The first answer about changes is held back once it is known."""

    def __init__(self) -> None:
        super().__init__()
        self.known, self.told = Event(), Event()

    def changes(
        self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0, model: str | None = None
    ) -> Changes:
        found = super().changes(namespace, since=since, limit=limit, known=known, model=model)
        if not self.known.is_set():
            self.known.set()
            assert self.told.wait(SECONDS)
        return found


class TestSearches:
    """Of one namespace, by several threads."""

    @pytest.fixture
    def store(self) -> Meeting:
        return Meeting()

    def test_two_searches_are_under_way_at_once(self, store: Meeting, put: Put) -> None:
        ferry, soup = put(["the ferry leaves", "the soup is hot"])
        recall = Recall(store)

        def found(query: str) -> list[str]:
            return [hit.id for hit in recall.search(["n"], query, now=NOW, top_k=1)]

        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(found, ["ferry", "soup"])) == [[ferry.id], [soup.id]]


class TestReading:
    """What is new is read by one thread for all."""

    @pytest.fixture
    def store(self) -> Slow:
        return Slow()

    def test_a_view_holds_every_write_that_ended_before_it_was_asked_for(self, store: Slow, put: Put) -> None:
        (ferry,) = put(["the ferry leaves"])
        recall = Recall(store)
        with ThreadPoolExecutor(2) as threads:
            early = threads.submit(recall.view, ["n"])
            assert store.known.wait(SECONDS)
            (soup,) = put(["the soup is hot"])
            late = threads.submit(recall.view, ["n"])
            store.told.set()
            assert [hit.id for hit in late.result(SECONDS).listing(now=NOW, top_k=9)] == [soup.id, ferry.id]
            assert [hit.id for hit in early.result(SECONDS).listing(now=NOW, top_k=9)] == [ferry.id]


def test_a_view_answers_as_of_its_moment_without_what_was_erased_since(store: MemoryStore, put: Put) -> None:
    first, second = put(["the ferry leaves", "the ferry waits"])
    recall = Recall(store)
    view, asked = recall.view(["n"]), recall.asked("ferry", now=NOW)
    before = view.search(asked, top_k=9)
    put(["another ferry", "a third ferry"])
    store.apply("n", Batch(erase=Erasure(memories=(first.id,))))
    assert len(recall.search(["n"], "ferry", now=NOW, top_k=9)) == 3
    assert view.search(asked, top_k=9) == [hit for hit in before if hit.id != first.id]
    assert {hit.id for hit in recall.view(["n"]).search(asked, top_k=9)} > {second.id}


def test_nothing_is_copied_where_no_view_is_in_use(make: Make) -> None:
    index, (one, two) = Index(4), (make("a ferry"), make("soup"))
    vector = Quantised(1.0, np.ones(4, np.int8), np.ones(2, np.uint8))
    index.put([one, two], {one.id: vector})
    vectors = index.columns.vectors
    index.view()
    gc.collect()
    index.embed({two.id: vector})
    assert np.shares_memory(index.columns.vectors, vectors)
    view = index.view()
    index.embed({two.id: vector._replace(scale=2.0)})
    assert np.shares_memory(index.columns.vectors, view.columns.vectors)
    assert not np.shares_memory(index.columns.scale, view.columns.scale)


def test_vectors_of_another_length_are_no_vectors_of_a_view(store: MemoryStore, put: Put) -> None:
    (ferry,) = put(["the ferry leaves"])
    view = Recall(store).view(["n"])
    found = view.nearest("ferry", np.ones(4, np.float32), filter=Filter(), now=NOW, top_k=1)
    assert [(memory.id, score) for memory, score in found] == [(ferry.id, 1.0)]


class Waiting(MemoryStore):
    """Who asks for changes waits until another one asks as well, once `barrier` is set."""

    barrier: Barrier | None = None

    def changes(
        self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0, model: str | None = None
    ) -> Changes:
        if self.barrier is not None:
            self.barrier.wait(SECONDS)
        return super().changes(namespace, since=since, limit=limit, known=known, model=model)


class TestWaiting:
    """Threads do not wait for each other's trips."""

    @pytest.fixture
    def store(self) -> Waiting:
        return Waiting()

    @pytest.mark.parametrize("news", [False, True])
    def test_two_threads_ask_the_store_at_once(self, store: Waiting, put: Put, *, news: bool) -> None:
        put(["the ferry leaves"])
        recall = Recall(store)
        recall.view(["n"])
        if news:
            put(["the soup is hot"])
        store.barrier = Barrier(2)
        with ThreadPoolExecutor(2) as threads:
            views = list(threads.map(recall.view, [["n"], ["n"]]))
        assert [len(view.listing(now=NOW, top_k=9)) for view in views] == [1 + news] * 2

    def test_what_was_edited_and_restaged_between_two_pages_is_told_in_full(self, store: Waiting, put: Put) -> None:
        (first,) = put(["the ferry leaves"])
        put([f"note {number}" for number in range(300)])
        recall = Recall(store)
        recall.view(["n"])
        store.apply("n", Batch(memories=(replace(first, content="the soup is hot"),)))
        put([f"another {number}" for number in range(300)])
        edited = store.memories("n", [first.id])[0]
        store.apply("n", Batch(stages=(Restage(first.id, edited.changed, Stage.LONG_TERM),)))
        assert [hit.id for hit in recall.search(["n"], "soup", now=NOW, top_k=1)] == [first.id]
        assert recall.search(["n"], "ferry", now=NOW, top_k=1) == []
