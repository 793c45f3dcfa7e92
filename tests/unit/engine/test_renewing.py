"""Embedding in the background: begun by a question, never in its way, stopped at any moment, and resumed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import haversack
from haversack.embed.codec import encode_vectors
from haversack.embed.embedder import Vectors
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.jobs import Job, JobState
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.errors import ConfigError, ServiceError
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Store
from haversack.tokens import counter_for

ABOUT = {"ship": 0, "vessel": 0, "boat": 0, "soup": 1, "broth": 1}
MANY = [f"a vessel numbered {number}" for number in range(80)]


@dataclass
class Themes:
    """Texts about ships point one way, those about soup another; `at` is called before each batch, with its number."""

    model: str = "themes"
    dimension: int = 2
    at: Callable[[int], object] = lambda _: None
    texts: list[str] = field(default_factory=list[str])
    batches: int = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches += 1
        self.at(self.batches)
        self.texts += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[next((ABOUT[word] for word in text.split() if word in ABOUT), -1)] = 1
        return rows

    def embed_query(self, text: str) -> Vectors:
        return Themes(dimension=self.dimension).embed([text])[0]


@dataclass
class Clock:
    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def opened(store: Store, embedder: Themes | None, **settings: object) -> Haversack:
    drawn = iter(range(1_000_000))
    return Haversack(
        Core(
            store=store,
            recall=Recall(store, embedder),
            embedder=embedder,
            settings=Settings(**settings),  # pyright: ignore[reportArgumentType]
            clock=Clock(),
            entropy=lambda size: (next(drawn) << 40).to_bytes(size, "big"),
            counter=counter_for,
        )
    )


def written(texts: Sequence[str], embedder: Themes | None = None) -> MemoryStore:
    """A store with these memories in the namespace `n`, as an embedder of the past left it."""
    store = MemoryStore()
    opened(store, embedder).namespace("n").remember_many([{"content": text, "kind": "passage"} for text in texts])
    return store


def found(ns: Namespace, query: str = "boat") -> set[str]:
    return {hit.memory.content for hit in ns.recall(query)}


def jobs(sack: Haversack) -> list[Job]:
    return [job for job in sack.jobs.all() if job.kind == "reembed"]


def test_after_a_switch_words_answer_at_once_and_meaning_soon(tmp_path: Path):
    place = tmp_path / "s.db"
    with haversack.open(place, embedder=Themes(model="one")) as sack:
        sack.namespace("n").remember_many(["a vessel", "a ship", "a soup"])
    for embedder in (Themes(model="another", dimension=3), Themes(model="a third")):
        with haversack.open(place, embedder=embedder) as sack:
            ns = sack.namespace("n")
            assert ns.unembedded() == 3
            assert found(ns, "ship") == {"a ship"}
            assert sack.wait(10)
            assert ns.unembedded() == 0
            assert {"a ship", "a vessel"} <= found(ns, "ship")
            assert sorted(embedder.texts) == ["a ship", "a soup", "a vessel"]
            assert [(job.state, dict(job.result)) for job in jobs(sack)[-1:]] == [
                (JobState.DONE, {"embedded": 3, "left": 0})
            ]
    with haversack.open(place) as sack:
        ns = sack.namespace("n")
        assert found(ns, "ship") >= {"a ship"}
        assert sack.wait(10)
        assert ns.unembedded() == 0
        assert ns.recall("ship")[0].parts["meaning"] > 0.5


QUESTIONS: dict[str, Callable[[Namespace], object]] = {
    "recall": lambda ns: ns.recall("boat"),
    "context": lambda ns: ns.context("boat", budget=200),
    "why": lambda ns: ns.why("boat", ns.page().memories[0].id),
    "prompt": lambda ns: ns.session("s").prompt("boat", window=4000, output=100),
}


@pytest.mark.parametrize("verb", QUESTIONS)
def test_every_question_begins_it(verb: str):
    sack = opened(written(["a vessel"]), Themes())
    QUESTIONS[verb](sack.namespace("n"))
    assert sack.wait(10)
    assert sack.namespace("n").unembedded() == 0


def test_namespaces_take_turns():
    store = written(["a vessel"])
    opened(store, None).namespace("m").remember("a soup")
    sack = opened(store, Themes())
    sack.namespace("n").recall("boat", namespaces=["m"])
    assert sack.wait(10)
    assert [(job.namespace, job.state) for job in jobs(sack)] == [("n", JobState.DONE), ("m", JobState.DONE)]


def test_progress_is_told_as_it_goes_and_other_jobs_need_not_wait():
    seen: list[tuple[int, int | None]] = []
    beside: list[JobState] = []

    def look(batch: int) -> None:
        seen.extend((job.done, job.total) for job in jobs(sack))
        if batch == 2:
            job = sack.jobs.start("other", "n", lambda _: {}, asked_by="me")
            beside.append(sack.jobs.wait(job.id, 10).state)

    sack = opened(written(MANY), Themes(at=look))
    sack.namespace("n").recall("boat")
    assert sack.wait(10)
    assert seen == [(32, 80), (64, 80)]
    assert beside == [JobState.DONE]
    assert [(job.done, job.total, dict(job.result)) for job in jobs(sack)] == [(80, 80, {"embedded": 80, "left": 0})]


def test_hits_come_as_their_vectors_land():
    counts: list[int] = []
    sack = opened(written(MANY), Themes(at=lambda _: counts.append(len(ns.recall("boat", top_k=1000)))))
    ns = sack.namespace("n")
    ns.recall("boat")
    assert sack.wait(10)
    assert [*counts, len(ns.recall("boat", top_k=1000))] == [0, 32, 64, 80]


def test_closing_stops_it_after_the_batch_in_hand_and_the_next_open_goes_on(tmp_path: Path):
    place = tmp_path / "s.db"
    with haversack.open(place, embedder="none") as sack:
        sack.namespace("n").remember_many([{"content": text, "kind": "passage"} for text in MANY])
    begun = Event()
    first = Themes(at=lambda batch: batch == 2 and (begun.set(), sack._renewal._stop.wait(10)))
    with haversack.open(place, embedder=first) as sack:
        sack.namespace("n").recall("boat")
        assert begun.wait(10)
    assert len(first.texts) == 64
    second = Themes()
    with haversack.open(place, embedder=second) as sack:
        ns = sack.namespace("n")
        assert [job.state for job in jobs(sack)] == [JobState.CANCELLED]
        assert ns.unembedded() == 16
        ns.recall("boat")
        assert sack.wait(10)
        assert ns.unembedded() == 0
    assert sorted(first.texts + second.texts) == sorted(MANY)


def test_a_failing_service_is_left_alone_for_some_minutes(caplog: pytest.LogCaptureFixture):
    def fail(_: int) -> None:
        raise ServiceError("down")

    embedder = Themes(at=fail)
    sack = opened(written(["a vessel"]), embedder)
    ns, clock = sack.namespace("n"), sack._core.clock
    assert isinstance(clock, Clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert found(ns, "vessel") == {"a vessel"}
            assert sack.wait(10)
    assert embedder.batches == 1
    assert [record.getMessage() for record in caplog.records] == ["embedding namespace 'n' stopped: ServiceError: down"]
    assert jobs(sack) == []
    embedder.at = lambda _: None
    clock.now += timedelta(minutes=10)
    found(ns)
    assert sack.wait(10)
    assert found(ns) == {"a vessel"}


def test_a_service_that_was_never_reached_leaves_words_until_it_is():
    class Untold(Themes):
        asked = 0
        up = False

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.reach()
            return super().embed(texts)

        def embed_query(self, text: str) -> Vectors:
            self.reach()
            return super().embed_query(text)

        def reach(self) -> None:
            self.asked += 1
            if not self.up:
                raise ServiceError("down")

        def __getattribute__(self, name: str) -> Any:
            if name == "dimension":  # asked of the service
                self.reach()
            return super().__getattribute__(name)

    embedder = Untold()
    sack = opened(written(["a vessel", "a ship"]), embedder)
    ns = sack.namespace("n")
    assert found(ns, "ship") == {"a ship"}
    assert ns.context("ship", budget=100).items
    assert embedder.asked == 3  # two questions, and once for the dimension
    assert sack.wait(10)
    assert [memory.content for memory in ns.timeline().memories] == ["a ship", "a vessel"]
    with pytest.raises(ServiceError):
        ns.reembed()
    embedder.up = True
    assert found(ns, "ship") == {"a ship"}
    assert sack.wait(10)
    assert found(ns, "ship") == {"a ship", "a vessel"}
    assert ns.unembedded() == 0


def test_a_service_that_fails_half_way_keeps_what_it_did(caplog: pytest.LogCaptureFixture):
    def fail(batch: int) -> None:
        if batch == 2:
            raise ServiceError("down")

    sack = opened(written(MANY), Themes(at=fail))
    ns = sack.namespace("n")
    with caplog.at_level(logging.WARNING):
        ns.recall("boat")
        assert sack.wait(10)
    assert [(job.state, job.message) for job in jobs(sack)] == [(JobState.FAILED, "down")]
    assert len(caplog.records) == 1
    assert ns.unembedded() == 48


def test_who_cancels_it_is_heard_until_the_next_open():
    sack = opened(written(MANY), Themes(at=lambda batch: batch == 2 and sack.jobs.cancel(jobs(sack)[0].id)))
    ns, clock = sack.namespace("n"), sack._core.clock
    assert isinstance(clock, Clock)
    for _ in range(2):
        ns.recall("boat")
        assert sack.wait(10)
        clock.now += timedelta(days=365)
    assert [job.state for job in jobs(sack)] == [JobState.CANCELLED]
    assert ns.unembedded() == 16


def test_what_is_erased_meanwhile_does_not_come_back():
    store = written(["a vessel", "a boat"])
    gone = store.changes("n").memories[0].id
    sack = opened(store, Themes(at=lambda _: ns.forget(gone, hard=True)))
    ns = sack.namespace("n")
    ns.recall("boat")
    assert sack.wait(10)
    assert found(ns) == {"a boat"}
    assert store.vectors("n", "themes", [gone]) == {}
    assert ns.unembedded() == 0


def test_what_is_edited_meanwhile_keeps_the_vector_of_its_new_words():
    store = written(["a vessel"])
    (memory,) = store.changes("n").memories
    sack = opened(store, Themes(at=lambda batch: batch == 1 and ns.edit(memory.id, content="a broth")))
    ns = sack.namespace("n")
    ns.recall("boat")
    assert sack.wait(10)
    assert store.vectors("n", "themes", [memory.id]) == {
        memory.id: encode_vectors(np.array([[0.0, 1.0]], np.float32))[0]
    }
    assert found(ns, "soup") == {"a broth"}


def test_two_processes_at_once_do_no_harm(tmp_path: Path):
    place = tmp_path / "s.db"
    with haversack.open(place, embedder="none") as sack:
        sack.namespace("n").remember_many([{"content": text, "kind": "passage"} for text in MANY])
    other = haversack.open(place, embedder=Themes())

    def meanwhile(batch: int) -> None:
        if batch == 1:
            other.namespace("n").recall("boat")
            other.wait(10)

    with other, haversack.open(place, embedder=Themes(at=meanwhile)) as sack:
        ns = sack.namespace("n")
        ns.recall("boat")
        assert sack.wait(10)
        assert ns.unembedded() == 0
        assert len(ns.recall("boat", top_k=1000)) == len(other.namespace("n").recall("boat", top_k=1000)) == 80


@pytest.mark.parametrize(
    "how",
    [{"config": {"engine": {"reembed": "asked"}}}, {"read_only": True}, {"embedder": "none"}],
    ids=["asked", "read-only", "no embedder"],
)
def test_it_can_be_switched_off(tmp_path: Path, how: dict[str, object]):
    place, embedder = tmp_path / "s.db", Themes()
    with haversack.open(place, embedder="none") as sack:
        sack.namespace("n").remember("a vessel")
    with haversack.open(place, **{"embedder": embedder, **how}) as sack:  # pyright: ignore[reportArgumentType]
        assert found(sack.namespace("n"), "vessel") == {"a vessel"}
        assert sack.wait(10)
        assert jobs(sack) == []
    assert embedder.texts == []


def test_asked_for_it_embeds_all_the_same():
    sack = opened(written([f"a vessel numbered {number}" for number in range(600)]), Themes(), reembed="asked")
    told: list[tuple[int, int]] = []
    done = sack.namespace("n").reembed(lambda done, total: told.append((done, total)))
    assert (done, told) == ({"embedded": 600, "left": 0}, [(256, 600), (512, 600), (600, 600)])


def test_a_misspelt_setting_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="reembed"):
        haversack.open(tmp_path / "s.db", config={"engine": {"reembed": "never"}})
