"""What was loaded is indexed behind the callers' backs; questions in between are answered from what is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest

from haversack.errors import StoreError
from haversack.lifecycle.policy import softly_deleted
from haversack.model.memory import Memory
from haversack.recall import Recall, shelf
from haversack.recall.keeping import Kept, restore
from haversack.scoring.words import key_of
from haversack.store.port import SEGMENT, Batch, Changes, Erasure
from haversack.store.sqlite.store import SqliteStore

from .conftest import NOW, Make

SECONDS = 20
PAGE = 250
"""What the index takes in at a time."""
OWN = 1_000
"""Changes that a question takes in itself."""


@pytest.fixture(autouse=True)
def _small_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "_OWN", OWN)


class Held(SqliteStore):
    """The builder's question for changes is held at the page `at`, counted from 1, until `let_go`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.at = 1
        self.fails = False
        """Whether what was held ends with an error."""
        self.asked = list[tuple[str, int]]()
        """The thread and the number of each question for changes, but those of the thread that saves."""
        self.held, self.let_go, self.ended = Event(), Event(), Event()

    def changes(
        self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0, model: str | None = None
    ) -> Changes:
        thread = current_thread().name
        if not thread.startswith("haversack-segments"):  # which looks for erasures before it saves, whenever that is
            self.asked.append((thread, since))
        if thread == "haversack-index" and self._pages() == self.at:
            self.held.set()
            assert self.let_go.wait(SECONDS)
            if self.fails:
                raise StoreError("the disk is gone")
        found = super().changes(namespace, since=since, limit=limit, known=known, model=model)
        if not found.more:
            self.ended.set()
        return found

    def _pages(self) -> int:
        return sum(thread == "haversack-index" for thread, _ in self.asked)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Held]:
    store = Held(tmp_path / "memory.db")
    yield store
    store.let_go.set()
    store.close()


@pytest.fixture
def load(disk: Held, make: Make) -> Callable[[int], list[Memory]]:
    """load(n): stores so many passages; each has a number and one of a hundred berths as its words."""

    def loaded(count: int) -> list[Memory]:
        memories = [make(f"boat{n} lies at berth{n % 100}") for n in range(count)]
        disk.apply("n", Batch(memories=tuple(memories)))
        return memories

    return loaded


def found(recall: Recall, query: str, *, wait: float | None = None) -> tuple[set[str], int]:
    view = recall.view(["n"], wait=wait)
    return {hit.id for hit in view.search(recall.asked(query, now=NOW), top_k=5_000)}, view.behind


def kept(disk: Held) -> Kept | None:
    return restore(disk, "n", "words", 0, None)


@pytest.mark.parametrize(("many", "behind"), [(OWN, 0), (OWN + 1, 1), (2 * OWN, OWN)])
def test_a_question_takes_in_a_thousand_changes_itself(
    disk: Held, load: Callable[[int], list[Memory]], many: int, behind: int
) -> None:
    load(many)
    recall = Recall(disk)
    assert found(recall, f"boat{OWN - 1}", wait=0)[1] == behind
    disk.let_go.set()
    recall.close()


def test_an_early_answer_comes_from_what_is_ready_and_the_next_from_all(
    disk: Held, load: Callable[[int], list[Memory]]
) -> None:
    memories = load(2_500)
    recall = Recall(disk)
    of_berth = {each.id for each in memories[7::100]}
    first_ten = {each.id for each in memories[7:OWN:100]}
    assert found(recall, "berth7", wait=0) == (first_ten, 1_500)
    disk.let_go.set()
    assert found(recall, "berth7") == (of_berth, 0)
    assert found(recall, "berth7", wait=0) == (of_berth, 0)
    asked = recall.asked("boat77 or berth31", now=NOW)
    fresh = Recall(disk)
    assert recall.view(["n"]).search(asked, top_k=99) == fresh.view(["n"]).search(asked, top_k=99)
    recall.close()


def test_a_write_is_read_at_once_unless_a_load_came_before_it(disk: Held, load: Callable[[int], list[Memory]]) -> None:
    recall = Recall(disk)
    assert found(recall, "boat1", wait=0) == (set(), 0)
    memories = load(OWN)
    assert found(recall, "boat1", wait=0) == ({memories[1].id}, 0)
    load(OWN + 1)
    assert found(recall, "boat1", wait=0)[1] == 1


def test_a_load_is_indexed_before_anybody_asks(disk: Held, load: Callable[[int], list[Memory]]) -> None:
    disk.let_go.set()
    recall = Recall(disk)
    load(1_200)
    recall.written("n", OWN - 1)
    assert disk.asked == []
    recall.written("n", 1)
    assert disk.ended.wait(SECONDS)
    assert disk.asked == [("haversack-index", page * PAGE) for page in range(5)]
    recall.close()


def test_an_early_answer_tells_what_it_names_as_it_is_now(disk: Held, load: Callable[[int], list[Memory]]) -> None:
    memories = load(2_000)
    recall = Recall(disk)
    assert len(found(recall, "berth7", wait=0)[0]) == 10
    stored = disk.memories("n", [memories[n].id for n in (7, 107, 207)])
    hidden, edited = softly_deleted(stored[0], NOW), replace(stored[1], content="boat107 lies at berth8")
    disk.apply("n", Batch(memories=(hidden, edited), erase=Erasure(memories=(stored[2].id,))))
    view = recall.view(["n"], wait=0)
    hits = {hit.id: hit.content for hit in view.search(recall.asked("berth7", now=NOW), top_k=99)}
    assert len(hits) == 8
    assert hits[edited.id] == edited.content
    assert {hit.id for hit in view.listing(now=NOW, top_k=5_000)}.isdisjoint({hidden.id, stored[2].id})
    disk.let_go.set()
    assert len(found(recall, "berth7")[0]) == 17
    recall.close()


def test_closing_ends_the_builder_after_its_page_and_the_next_one_goes_on(
    disk: Held, load: Callable[[int], list[Memory]]
) -> None:
    memories = load(2_500)
    disk.at = 3
    recall = Recall(disk)
    recall.written("n", OWN)
    assert disk.held.wait(SECONDS)
    closing = Thread(target=recall.close)
    closing.start()
    assert recall._whole._builder._stop.wait(SECONDS)
    disk.let_go.set()
    closing.join(SECONDS)
    assert not closing.is_alive()
    assert disk.asked[:-1] == [("haversack-index", page * PAGE) for page in range(3)]
    half = kept(disk)
    assert half is not None
    assert (half.index.upto, half.whole) == (3 * PAGE, 0)
    faded = disk.memories("n", [memories[2_000].id, memories[3].id])
    disk.apply("n", Batch(memories=tuple(softly_deleted(each, NOW) for each in faded)))
    again = Recall(disk)
    wanted = {each.id for each in memories[0::100]} - {faded[0].id}
    assert found(again, "berth0") == (wanted, 0)
    assert disk.asked[4][1] == 3 * PAGE
    again.close()


def test_after_an_error_of_the_builder_whoever_asks_reads_on(disk: Held, load: Callable[[int], list[Memory]]) -> None:
    memories = load(2_000)
    disk.at, disk.fails = 2, True
    recall = Recall(disk)
    recall.written("n", OWN)
    assert disk.held.wait(SECONDS)
    disk.let_go.set()
    assert found(recall, "berth7") == ({each.id for each in memories[7::100]}, 0)
    assert disk.asked == [
        ("haversack-index", 0),
        ("haversack-index", PAGE),
        *(("MainThread", page * PAGE) for page in range(1, 5)),
        *(("haversack-index", page * PAGE) for page in range(5, 8)),
        ("MainThread", 8 * PAGE),
    ]
    recall.close()


@pytest.mark.parametrize("page", [1, 3])
def test_an_erasure_while_the_index_is_built_leaves_nothing(
    disk: Held, load: Callable[[int], list[Memory]], page: int
) -> None:
    memories = load(2_500)
    gone = memories[700]
    disk.at = page
    recall = Recall(disk)
    recall.written("n", OWN)
    assert disk.held.wait(SECONDS)
    with recall.erasing("n"):
        disk.apply("n", Batch(erase=Erasure(memories=(gone.id,))))
    disk.let_go.set()
    recall.save("n")
    (part,) = recall.view(["n"]).parts
    assert gone.id not in part.index.ids
    assert key_of("boat700") not in {int(key) for run in part.index.words.runs() for key in run.keys}
    assert key_of("boat701") in {int(key) for run in part.index.words.runs() for key in run.keys}
    recall.close()
    assert kept(disk) is not None
    assert all(gone.id.encode() not in record.value for record in disk.records("n", SEGMENT))


@pytest.mark.parametrize("loaded", [False, True])
def test_an_erasure_costs_the_next_start_nothing(
    disk: Held, load: Callable[[int], list[Memory]], *, loaded: bool
) -> None:
    disk.let_go.set()
    memories = load(1_500)
    recall = Recall(disk)
    recall.save("n")
    if not loaded:
        recall.close()
        recall = Recall(disk)
    with recall.erasing("n"):
        disk.apply("n", Batch(erase=Erasure(memories=(memories[0].id,))))
        assert kept(disk) is None
    recall.close()
    upto = disk.sequence("n")
    held = kept(disk)
    assert held is not None
    assert (held.index.upto, held.index.present, held.index.gone) == (upto, 1_499, 0)
    assert all(memories[0].id.encode() not in record.value for record in disk.records("n", SEGMENT))
    disk.asked.clear()
    assert found(Recall(disk), "boat0 or boat1") == ({memories[1].id}, 0)
    assert disk.asked == [("MainThread", upto)]


def test_an_erasure_keeps_no_index_where_none_was_kept(disk: Held, load: Callable[[int], list[Memory]]) -> None:
    memories = load(10)
    recall = Recall(disk)
    with recall.erasing("n"):
        disk.apply("n", Batch(erase=Erasure(memories=(memories[0].id,))))
    recall.close()
    assert kept(disk) is None
    assert disk.asked == []
