"""The handed cases about what holds when: changes told ahead, local days, and the end of a range."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count

import pytest

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.settings import Settings
from haversack.errors import InputError
from haversack.mcp.arguments import RecallArguments, schema_of
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
def ns(clock: Callable[[], datetime]) -> Namespace:
    return opened(clock)


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


def test_t2_time_02_one_zone_for_days_headings_filters_and_questions(clock: Callable[[], datetime]):
    ns = opened(clock, time_zone="America/New_York")
    for day, word in (("05", "alpha"), ("06", "beta"), ("04", "gamma")):
        ns.remember(word, event_time=f"2026-05-{day}T22:30-04:00")
    ns.session("s").add("user", "The tide was high", at="2026-05-05T22:30-04:00")
    line = ns.timeline(kinds="fact")
    assert {day.isoformat(): many for day, many in line.by_day.items()} == {
        "2026-05-04": 1,
        "2026-05-05": 1,
        "2026-05-06": 1,
    }
    assert "5 May 2026" in ns.context("tide", budget=200).text
    assert [one.content for one in ns.everything(kinds="fact", since="2026-05-05", until="2026-05-05")] == ["alpha"]
    (told,) = [ns.remember("delta", event_time="2026-05-09")]
    assert told.event_time.isoformat() == "2026-05-09T04:00:00+00:00"
    (hit,) = ns.recall("what was yesterday", kinds="fact", now="2026-05-06T12:00-04:00", top_k=1)
    assert hit.memory.content == "alpha"


@pytest.mark.parametrize("conditions", [{"until": "2026-03-31"}, {"since": "2026-03-31", "until": "2026-03-31"}])
def test_t2_time_03_a_date_as_the_end_of_a_range_takes_its_day_in(ns: Namespace, conditions: dict[str, str]):
    ns.remember("the quay was wet", event_time="2026-03-31T15:00Z")
    ns.remember("the quay was dry", event_time="2026-04-01T00:00Z")
    assert [hit.memory.content for hit in ns.recall("quay", **conditions)] == ["the quay was wet"]  # pyright: ignore[reportArgumentType]


def test_t2_time_03_a_moment_is_left_out_and_an_empty_range_is_refused(ns: Namespace):
    ns.remember("the quay was wet", event_time="2026-03-31T15:00Z")
    assert ns.recall("quay", until="2026-03-31T15:00Z") == []
    with pytest.raises(InputError, match="nothing lies between since=2026-03-31T15:00Z and until=2026-03-31T15:00Z"):
        ns.recall("quay", since="2026-03-31T15:00Z", until="2026-03-31T15:00Z")


def test_t2_time_03_a_model_can_read_the_rule():
    properties = schema_of(RecallArguments)["properties"]
    assert properties["until"]["description"] == "before, or through a date"
