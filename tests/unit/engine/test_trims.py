"""Counting what was left out costs a caller little, and loses nothing that another one counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event

from haversack.assemble import Candidate, Context, assemble
from haversack.engine.trims import TrimLog, trimmed
from haversack.model.memory import Kind, Memory
from haversack.store.memory import MemoryStore
from haversack.store.port import Applied, Batch, Record
from haversack.tokens import counter_for

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass
class Watched(MemoryStore):
    """Counts what is read and written, and can let somebody else be quicker."""

    trips: int = 0
    before: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def __post_init__(self) -> None:
        super().__init__()

    def record(self, namespace: str, collection: str, key: str) -> Record | None:
        self.trips += 1
        return super().record(namespace, collection, key)

    def apply(self, namespace: str, batch: Batch) -> Applied:
        self.trips += 1
        while self.before:
            self.before.pop()()
        return super().apply(namespace, batch)


def left_out(*numbers: int) -> tuple[list[Candidate], Context]:
    """Important memories, and a context that has room for none of them."""
    found = [
        Candidate(
            memory=Memory(
                id=f"{number:026d}", kind=Kind.FACT, content="tides", created_at=NOW, event_time=NOW, importance=0.9
            ),
            score=0.5,
        )
        for number in numbers
    ]
    return found, assemble(found, budget=0, counter=counter_for("bytes"), query="tides")


def test_few_records_are_written_at_once_however_many_wait() -> None:
    store, log = Watched(), TrimLog()
    costs: list[int] = []
    store.apply("n", Batch(memories=tuple(one.memory for one in left_out(*range(1_500))[0])))
    for number in range(100):
        store.trips = 0
        log.note(store, "n", *left_out(*range(number * 15, number * 15 + 15)))
        log.wait()
        costs.append(store.trips)
    assert max(costs) == 51
    assert sum(cost > 0 for cost in costs) <= 4


def test_who_asks_waits_for_no_record() -> None:
    store, log, noted = Watched(), TrimLog(), Event()
    store.apply("n", Batch(memories=tuple(one.memory for one in left_out(*range(200))[0])))
    store.before = [lambda: assert_set(noted)]
    for _ in range(32):
        log.note(store, "n", *left_out(*range(200)))
    noted.set()
    log.wait()
    assert len(store.records("n", "trim")) == 50


def assert_set(event: Event) -> None:
    assert event.wait(30)


def test_what_would_carry_a_memory_is_all_that_scores_as_much_or_more() -> None:
    store, log = Watched(), TrimLog()
    memories = [one.memory for one in left_out(*range(4))[0]]
    store.apply("n", Batch(memories=tuple(memories)))
    scores, prices = (0.9, 0.5, 0.5, 0.1), (7, 20, 30, 400)
    found = [
        Candidate(memory=memory, score=score, price=price)
        for memory, score, price in zip(memories, scores, prices, strict=True)
    ]
    context = assemble(found, budget=1, counter=counter_for("bytes"), query="tides")
    log.note(store, "n", found, context)
    rows = {row.memory_id: row.needed for row in trimmed(log, store, "n", least=1)}
    assert [rows[memory.id] for memory in memories] == [7, 57, 57, 457]


def test_all_that_waits_is_written_down_when_it_is_asked_for() -> None:
    store, log = Watched(), TrimLog()
    memories = [one.memory for one in left_out(*range(120))[0]]
    store.apply("n", Batch(memories=tuple(memories)))
    for _ in range(2):
        log.note(store, "n", *left_out(*range(120)))
    assert {row.memory_id: row.trimmed for row in trimmed(log, store, "n")} == dict.fromkeys(
        (m.id for m in memories), 2
    )


def test_what_two_processes_count_adds_up() -> None:
    store, one, other = Watched(), TrimLog(), TrimLog()
    found, context = left_out(1)
    store.apply("n", Batch(memories=(found[0].memory,)))
    for log in (one, one, other):
        log.note(store, "n", found, context)
    store.before = [lambda: other.spill(store, "n")]
    assert [row.trimmed for row in trimmed(one, store, "n")] == [3]
