from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from haversack.errors import ConfigError
from haversack.lifecycle import DecayConfig
from haversack.lifecycle.plan import carried_out, plan
from haversack.lifecycle.policy import (
    Action,
    DedupPolicy,
    Eviction,
    Policy,
    restored,
    softly_deleted,
)
from haversack.model.memory import Kind, Memory, Stage

Make = Callable[..., Memory]
DAY = timedelta(days=1)


def reasons(memories: list[Memory], policy: Policy, now: datetime) -> list[tuple[str, Action, str]]:
    return [(due.memory, due.action, due.reason) for due in plan(memories, policy, now)]


def test_nothing_is_due_at_birth(fact: Make, born: datetime) -> None:
    assert plan([fact()], Policy(), born) == []


def test_an_unused_memory_decays_then_is_softly_deleted(fact: Make, born: datetime) -> None:
    assert reasons([fact()], Policy(), born + 6 * DAY) == [("m1", Action.DECAY, "faded")]
    assert reasons([fact()], Policy(), born + 36 * DAY) == [("m1", Action.DELETE, "decayed_retention")]


def test_a_used_memory_returns(fact: Make, born: datetime) -> None:
    used = fact(stage=Stage.DECAYED, accessed_at=born + 9 * DAY, access_count=1)
    assert reasons([used], Policy(), born + 10 * DAY) == [("m1", Action.REVIVE, "used_again")]


def test_a_proven_memory_is_promoted_and_stays(fact: Make, born: datetime) -> None:
    proven = fact(access_count=5, entities=("Alice",))
    assert reasons([proven], Policy(), born + 3 * DAY) == [("m1", Action.PROMOTE, "proven")]
    assert plan([fact(stage=Stage.LONG_TERM)], Policy(), born + 99 * DAY) == []


@pytest.mark.parametrize(
    "changes", [{"pinned": True}, {"kind": Kind.PASSAGE}, {"kind": Kind.SUMMARY}, {"superseded_by": "m2"}]
)
def test_protected_memories_never_fade(fact: Make, born: datetime, changes: dict[str, object]) -> None:
    assert plan([fact(**changes)], Policy(max_memories=0), born + 400 * DAY) == []


def test_a_time_to_live_ends_even_protected_kinds(fact: Make, born: datetime) -> None:
    policy = Policy(ttl_days={Kind.PASSAGE: 7})
    passage = fact(kind=Kind.PASSAGE)
    assert plan([passage], policy, born + 7 * DAY - timedelta(seconds=1)) == []
    assert reasons([passage], policy, born + 7 * DAY) == [("m1", Action.DELETE, "ttl")]
    assert plan([fact(kind=Kind.PASSAGE, pinned=True)], policy, born + 7 * DAY) == []
    assert reasons([fact(pinned=True, expires_at=born)], Policy(), born) == [("m1", Action.DELETE, "expired")]


def test_erasure_counts_from_the_deletion(fact: Make, born: datetime) -> None:
    deleted = softly_deleted(fact(), born + 10 * DAY)
    assert plan([deleted], Policy(), born + 39 * DAY) == []
    assert reasons([deleted], Policy(), born + 40 * DAY) == [("m1", Action.ERASE, "retention")]
    unmarked = fact(stage=Stage.DELETED)
    assert reasons([unmarked], Policy(), born + 30 * DAY) == [("m1", Action.ERASE, "retention")]


def test_soft_deletion_is_undone_exactly(fact: Make, born: datetime) -> None:
    memory = fact(stage=Stage.LONG_TERM, metadata={"a": 1})
    assert restored(softly_deleted(memory, born)) == memory
    assert restored(fact(stage=Stage.DELETED)).stage is Stage.ACTIVE


def test_limits_evict_in_the_declared_order(fact: Make, born: datetime) -> None:
    memories = [
        fact(id="a", importance=0.9, content="x" * 10),
        fact(id="b", importance=0.3, content="x" * 10, access_count=9),
        fact(id="c", importance=0.6, content="x" * 10, created_at=born - DAY, access_count=3),
    ]
    over = [("b", Action.DELETE, "over_limit")]
    by_importance = Policy(max_memories=2, eviction=(Eviction.LEAST_IMPORTANT,))
    assert reasons(memories, by_importance, born) == over
    assert reasons(memories, Policy(max_characters=25, eviction=(Eviction.OLDEST,)), born)[0][0] == "c"
    assert reasons(memories, Policy(max_memories=2, eviction=(Eviction.LEAST_USED,)), born)[0][0] == "a"
    left = [{due.memory for due in plan(memories, Policy(max_characters=most), born)} for most in (30, 29, 19, 9)]
    assert left == [set(), {"b"}, {"b", "c"}, {"a", "b", "c"}]


@pytest.mark.parametrize("number", [1e-300, 1e300])
def test_extreme_rules_are_carried_out_all_the_same(fact: Make, born: datetime, number: float) -> None:
    never = number > 1
    memories = [fact(), softly_deleted(fact(id="d"), born)]
    now = born + 100 * DAY
    fast = Policy(decay=DecayConfig(decay_rate=number), retention_days=number, ttl_days={Kind.INSIGHT: number})
    assert {due.action for due in plan(memories, fast, now)} == ({Action.DELETE} if never else {Action.ERASE})
    slow = Policy(decay=DecayConfig(half_life_hours={Kind.FACT: number}), retention_days=number)
    assert {due.action for due in plan(memories, slow, now)} == (set() if never else {Action.DELETE, Action.ERASE})
    ending = Policy(ttl_days={Kind.FACT: number}, decay=DecayConfig(enabled=False), retention_days=1e300)
    assert [due.reason for due in plan(memories, ending, now)] == ([] if never else ["ttl"])


def test_execution_touches_what_the_preview_named(fact: Make, born: datetime) -> None:
    memories = [fact(id="a"), fact(id="b", pinned=True), softly_deleted(fact(id="c"), born)]
    now = born + 31 * DAY
    due = plan(memories, Policy(), now)
    written, erased = carried_out(memories, due, now)
    assert {memory.id for memory in written} | set(erased) == {transition.memory for transition in due}
    assert [(memory.id, memory.stage) for memory in written] == [("a", Stage.DECAYED)]
    assert erased == ("c",)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Policy(ttl_days={Kind.FACT: 0}), "ttl_days.fact=0"),
        (lambda: Policy(max_memories=-1), "max_memories=-1"),
        (lambda: Policy(retention_days=-1), "retention_days=-1 is out of range: allowed is at least 0"),
        (lambda: DedupPolicy(similarity=0), "similarity=0 is out of range: allowed is above 0, up to 1"),
        (lambda: DedupPolicy(check_newest=0), "check_newest=0"),
    ],
)
def test_settings_out_of_range_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build()
