"""The handed cases about what holds when: changes told ahead, local days, and the end of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count

import pytest

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.tokens import counter_for

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def clock() -> Callable[[], datetime]:
    return lambda: NOW


def opened(clock: Callable[[], datetime], **settings: str) -> Namespace:
    store, drawn = MemoryStore(), count(1)
    core = Core(
        store=store,
        recall=Recall(store),
        embedder=None,
        settings=Settings(**settings),  # pyright: ignore[reportArgumentType]
        clock=clock,
        entropy=lambda size: (next(drawn) << 40).to_bytes(size, "big"),
        counter=counter_for,
    )
    return Haversack(core).namespace("n")


@pytest.fixture
def ns(clock: Callable[[], datetime]) -> Iterator[Namespace]:
    yield opened(clock)


def by_subject(ns: Namespace) -> tuple[str, str]:
    old = ns.remember("Alice lives in Rome", subject="alice/city", event_time="2026-01-01")
    new = ns.remember("Alice lives in Oslo", subject="alice/city", valid_from="2027-01-01")
    return old.content, new.content


def by_own_end(ns: Namespace) -> tuple[str, str]:
    old = ns.remember("The fee is 10 euros", subject="fee", valid_to="2026-12-31")
    new = ns.remember("The fee is 12 euros", subject="fee", valid_from="2027-01-01")
    return old.content, new.content


def by_name(ns: Namespace) -> tuple[str, str]:
    old = ns.remember("The fee is 10 euros")
    new = ns.remember("The fee is 12 euros", supersedes=old.id, valid_from="2027-01-01")
    return old.content, new.content


def by_words(ns: Namespace) -> tuple[str, str]:
    old = ns.remember("standup is in room A")
    new = ns.remember("standup is no longer in room A but in room B", valid_from="2027-01-01")
    return old.content, new.content


def by_relation(ns: Namespace) -> tuple[str, str]:
    old = ns.knowledge.relate("Alice", "works at", "Acme", single=True)
    new = ns.knowledge.relate("Alice", "works at", "Beta", single=True, valid_from="2027-02-01")
    return old.content, new.content


@pytest.mark.parametrize("told", [by_subject, by_own_end, by_name, by_words, by_relation])
def test_t2_time_01_what_begins_later_ends_nothing_before(ns: Namespace, told: Callable[[Namespace], tuple[str, str]]):
    first, second = told(ns)
    for moment in (None, NOW, "2026-12-15"):
        assert [one.content for one in ns.everything(as_of=moment)] == [first]
        assert [hit.memory.content for hit in ns.recall(first, as_of=moment)] == [first]
        text = ns.context(first, budget=200, as_of=moment).text
        assert (first in text, second in text) == (True, False)
    assert [one.content for one in ns.everything(as_of="2027-06-01")] == [second]
    assert [hit.memory.content for hit in ns.recall(first, as_of="2027-06-01")] == [second]


def test_t2_time_01_relations_are_walked_by_what_holds(ns: Namespace):
    by_relation(ns)
    assert [hop.memory.content for hop in ns.knowledge.reach("Alice")] == ["Alice works at Acme"]
    assert [hop.memory.content for hop in ns.knowledge.reach("Alice", as_of="2027-06-01")] == ["Alice works at Beta"]


def test_t2_time_01_a_change_before_the_announced_one_fills_the_time_between(ns: Namespace):
    by_subject(ns)
    ns.remember("Alice lives in Paris", subject="alice/city")
    at = {"2026-06-01": "Rome", NOW: "Paris", "2026-12-31": "Paris", "2027-01-01": "Oslo"}
    assert [[one.content for one in ns.everything(as_of=moment)] for moment in at] == [
        [f"Alice lives in {city}"] for city in at.values()
    ]
