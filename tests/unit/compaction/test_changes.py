"""What a change told in plain words does to what was said before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from bench.truth.change_pairs import Pair, pairs

from haversack.compaction.changes import Bearing, announces_change, bearing
from haversack.compaction.dedup import Relation, admit
from haversack.lifecycle.policy import DedupPolicy
from haversack.model.identity import MAY_END, SUBJECT
from haversack.model.memory import Kind, Memory, Trust

START = datetime(2026, 1, 1, tzinfo=UTC)
ALL = list(pairs())


def fact(content: str, name: str, day: int = 0, subject: str | None = None) -> Memory:
    at = START + timedelta(days=day)
    plain = Memory(id=name, kind=Kind.FACT, content=content, created_at=at, event_time=at)
    return replace(plain, metadata={SUBJECT: subject}) if subject else plain


@pytest.mark.parametrize("pair", [one for one in ALL if not one.ends], ids=lambda pair: f"{pair.language}: {pair.new}")
def test_a_trap_ends_nothing(pair: Pair) -> None:
    assert bearing(pair.new, pair.old) is not Bearing.SURE


@pytest.mark.parametrize(
    "pair", [one for one in ALL if one.ends and one.tuned], ids=lambda pair: f"{pair.language}: {pair.new}"
)
def test_a_change_ends_what_it_changes(pair: Pair) -> None:
    admitted = admit(fact(pair.new, "n", 1), [fact(pair.old, "o")], [0.6], DedupPolicy())
    assert (admitted.relation, admitted.other) == (Relation.ENDS, "o")


def test_what_a_change_likely_means_is_kept_with_a_link() -> None:
    old = fact("Anna has a flat in Rome", "o")
    admitted = admit(fact("Anna moved from Rome to Oslo", "n", 1), [old], [0.6], DedupPolicy())
    assert admitted.relation is Relation.NEW
    (new,) = admitted.memories
    assert new.metadata == {MAY_END: ["o"]}


def test_the_order_and_the_length_of_what_is_told_count() -> None:
    old = fact("Anna lives in Rome", "o", 5)
    assert admit(fact("Anna moved to Oslo", "n"), [old], [0.6], DedupPolicy()).relation is Relation.NEW
    assert not announces_change("Anna moved to Oslo. " * 20)
    assert bearing("Anna lives in Oslo", "Anna lives in Rome") is Bearing.NONE


def test_what_tells_of_a_past_time_is_not_the_value_of_a_subject() -> None:
    today = fact("Anna lives in Rome", "o", subject="anna/city")
    past = fact("As a child Anna lived in Bern", "p", 1, subject="anna/city")
    assert admit(past, [today], [0.6], DedupPolicy()).relation is Relation.NEW
    moved = admit(fact("Anna lives in Oslo", "n", 2, subject="anna/city"), [today, past], [0.6, 0.6], DedupPolicy())
    assert [one.id for one in moved.memories] == ["n", "o"]


def test_a_correction_that_is_told_late_is_not_ended_by_what_was_only_extracted() -> None:
    extracted = replace(fact("Anna lives in Rome", "o", 5, "anna/city"), trust=Trust.EXTRACTED)
    late = replace(fact("Anna lives in Bern", "n", 2, "anna/city"), trust=Trust.CORRECTION)
    admitted = admit(late, [extracted], [0.6], DedupPolicy())
    assert (admitted.relation, admitted.memories[0].valid_to) == (Relation.NEW, None)
