"""Estimates that learn from reported usage, alone and through the public face."""

from __future__ import annotations

import haversack
from haversack.engine.calibrating import Calibrations
from haversack.store.memory import MemoryStore
from haversack.tokens import counter_for
from haversack.tokens.counter import CountKind

TEXT = "The ferry leaves at nine.\nNobody minds the rain on the way back.\n"
PLAIN = counter_for("somebody-elses-model")


def test_an_estimate_gets_tighter_after_enough_prompts_and_stays_above_what_was_reported() -> None:
    known = Calibrations(MemoryStore(), counter_for)
    for reported in (600, 610, 590, 620):
        known.learn("m", counted=1000, reported=reported)
        assert known.counter("m") is PLAIN
    known.learn("m", counted=1000, reported=600)
    tight = known.counter("m")
    assert (tight.encoding, tight.kind) == ("estimate*65%", CountKind.ESTIMATE)  # .62 with 2 % more, to the next 5 %
    lines = TEXT.splitlines(keepends=True)
    assert tight.count_many([TEXT, ""]) == [sum(-(-PLAIN.count(line) * 65 // 100) for line in lines), 0]
    assert tight.truncate(TEXT, tight.count(lines[0])) == lines[0]
    assert known.counter("other") is PLAIN


def test_a_report_above_the_estimate_counts_at_once_and_is_never_forgotten() -> None:
    store = MemoryStore()
    known = Calibrations(store, counter_for)
    known.learn("m", counted=1000, reported=1100)
    assert known.counter("m").encoding == "estimate*115%"  # 1.122 to the next 5 %
    for _ in range(20):
        known.learn("m", counted=1150, reported=600)
    assert known.counter("m").encoding == "estimate*115%"
    assert Calibrations(store, counter_for).counter("m").encoding == "estimate*115%"


def test_counts_by_a_tightened_counter_are_taken_for_what_they_are() -> None:
    known = Calibrations(MemoryStore(), counter_for)
    for _ in range(5):
        known.learn("m", counted=1000, reported=600)
    assert known.counter("m").encoding == "estimate*65%"
    known.learn("m", counted=650, reported=660)  # 66 % of a plain 1000
    assert known.counter("m").encoding == "estimate*70%"


def test_it_never_falls_below_half_and_exact_counters_learn_nothing() -> None:
    known = Calibrations(MemoryStore(), counter_for)
    for _ in range(6):
        known.learn("m", counted=1000, reported=1)
        known.learn("gpt-4o", counted=1000, reported=1)
        known.learn("m", counted=0, reported=5)
    assert known.counter("m").encoding == "estimate*50%"
    assert known.counter("gpt-4o") is counter_for("gpt-4o")


def test_prompts_and_contexts_use_what_an_open_store_learned() -> None:
    with haversack.open(":memory:", embedder="none") as sack:
        ns = sack.namespace()
        for number in range(40):
            ns.remember(f"The ferry number {number} leaves at nine and nobody minds the rain.", kind="passage")
        before = ns.context("ferry", budget=300, model="somebody-elses-model")
        for _ in range(5):
            sack.learn("somebody-elses-model", counted=1000, reported=580)
        after = ns.context("ferry", budget=300, model="somebody-elses-model")
        assert len(after.items) > len(before.items)
        assert after.tokens <= 300


def test_what_one_process_learns_another_counts_by_at_once() -> None:
    store = MemoryStore()
    one, two = (Calibrations(store, counter_for) for _ in range(2))
    assert one.counter("m") is PLAIN
    two.learn("m", counted=100, reported=160)
    assert one.counter("m").encoding == "estimate*165%"  # 1.632 to the next 5 %
    one.learn("m", counted=165, reported=200)  # 100 counted plainly, 200 reported
    assert two.counter("m").encoding == "estimate*205%"  # 2.04 to the next 5 %
