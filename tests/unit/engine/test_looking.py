"""What inspecting asks of the engine: memories by time, and prompts that leave no trace of having been looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from haversack.compaction import CompactionConfig
from haversack.engine.haversack import Haversack
from haversack.engine.namespace import Namespace
from haversack.engine.session import Session
from haversack.engine.settings import MemorySettings
from haversack.errors import InputError
from haversack.store.memory import MemoryStore


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 2, day, hour, tzinfo=UTC)


def test_the_timeline_is_newest_first_and_counts_days(ns: Namespace) -> None:
    days = [at(3), at(1, 23), at(2), at(1), at(3, 1)]
    made = ns.remember_many([{"content": f"note {n}", "kind": "fact", "event_time": day} for n, day in enumerate(days)])
    ns.remember("another kind", kind="decision", event_time=at(4))
    line = ns.timeline(skip=1, limit=3, kinds="fact")
    assert [memory.id for memory in line.memories] == [made[0].id, made[2].id, made[1].id]
    assert line.total == 5
    assert dict(line.by_day) == {date(2026, 2, 1): 2, date(2026, 2, 2): 1, date(2026, 2, 3): 2}


def test_the_timeline_leaves_out_what_is_forgotten(ns: Namespace) -> None:
    gone = ns.remember("a slip of the tongue", event_time=at(1))
    ns.forget(gone.id)
    assert (ns.timeline().memories, ns.timeline().total) == ((), 0)


def test_those_born_later_come_first_among_equal_times(ns: Namespace) -> None:
    first, second = (ns.remember(words, event_time=at(1)) for words in ("The pump leaks", "Oona sews sails"))
    assert [memory.id for memory in ns.timeline().memories] == [second.id, first.id]


@pytest.mark.parametrize(("skip", "limit"), [(-1, 10), (0, 0), (0, 1001)])
def test_impossible_pages_are_refused(ns: Namespace, skip: int, limit: int) -> None:
    with pytest.raises(InputError):
        ns.timeline(skip=skip, limit=limit)


def test_many_are_had_at_once_and_the_missing_are_passed_over(ns: Namespace) -> None:
    one, two = ns.remember("one boat"), ns.remember("two oars")
    assert [memory.id for memory in ns.get_many([two.id, "nobody", one.id])] == [two.id, one.id]


def test_a_context_for_another_moment_counts_nothing_as_left_out(ns: Namespace) -> None:
    ns.remember("The launch is on the twenty-sixth of September", importance=0.9)
    for _ in range(3):
        ns.context("launch", budget=3, now="2026-05-01")
    assert ns.trimmed() == []
    for _ in range(3):
        ns.context("launch", budget=3)
    assert [row.trimmed for row in ns.trimmed()] == [3]


def full(engine: Callable[..., Haversack]) -> Session:
    """A session whose prompt starts a compaction."""
    config = CompactionConfig(cooldown_turns=0)
    memory = MemorySettings(compaction=config, context_window=1200, output_buffer=100)
    sack = Haversack(replace(engine(MemoryStore())._core, memory=memory))
    session = sack.namespace("a").session("s")
    session.extend(
        {
            "role": "user" if n % 2 == 0 else "assistant",
            "content": f"Hotel number {n // 2} costs {n * 10} euros a night.",
        }
        for n in range(80)
    )
    return session


def test_a_preview_is_the_prompt_and_starts_no_compaction(engine: Callable[..., Haversack]) -> None:
    session = full(engine)
    previews = [session.preview("Which hotel?", now="2026-04-01") for _ in range(3)]
    assert session.wait()
    assert session.folds() == ()
    prompt = session.prompt("Which hotel?", now="2026-04-01")
    assert [preview.messages() for preview in previews] == [prompt.messages()] * 3
    assert session.wait()
    assert session.folds()
