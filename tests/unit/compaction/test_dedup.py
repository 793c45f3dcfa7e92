from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from haversack.compaction.dedup import (
    SUBJECT,
    Merge,
    Relation,
    admit,
    fields_identity,
    hidden_behind,
    is_same_statement,
    lexical_similarity,
    plan_dedup,
    succession,
    unhidden,
)
from haversack.lifecycle.policy import DedupPolicy
from haversack.model.memory import Kind, Memory, Stage, Trust
from haversack.model.query import Filter

START = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = DedupPolicy()


def fact(content: str, name: str = "m", day: int = 0, **changes: object) -> Memory:
    at = START + timedelta(days=day)
    plain = Memory(id=name, kind=Kind.FACT, content=content, created_at=at, event_time=at)
    return replace(plain, **changes)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("new", "old", "similarity", "same"),
    [
        ("Alice likes tea", "alice  LIKES tea", 0.0, True),
        ("Alice likes the green tea", "Alice likes green tea", 0.95, True),
        ("Alice likes green tea", "Alice likes tea", 0.89, False),
        ("Alice likes tea", "Bob likes tea", 0.99, False),
        ("Room 12 is free", "Room 21 is free", 0.99, False),
        ("Alice likes tea", "Alice does not like tea", 0.99, False),
        ("Alice likes tea", "Alice dislikes tea", 0.99, False),
        ("The shop opens on Monday", "The shop opens on Tuesday", 0.99, False),
        ("Alice lives in Rome now", "Alice lives in Rome", 0.99, False),
        ("The door is red", "The door is blue", 0.96, False),
        ("The user enjoys hikes", "The user enjoys hiking", 0.95, True),
        ("build 9 は青", "build 9 は赤", 0.99, False),
        ("The valves are open.", "The valve is open", 0.95, True),
        ("We met Roberts in Bergen", "We met Robert in Bergen", 0.99, False),
    ],
)
def test_when_two_statements_are_one(new: str, old: str, similarity: float, same: object) -> None:
    assert is_same_statement(new, old, similarity, POLICY) is same


def test_the_threshold_is_used() -> None:
    assert is_same_statement("the b c d", "b c d", 0.8, DedupPolicy(similarity=0.8))
    assert not is_same_statement("the b c d", "b c d", 0.8, POLICY)


def test_a_statement_that_says_more_or_less_is_another_one() -> None:
    assert not is_same_statement("b c d e", "b c d", 0.99, POLICY)
    assert not is_same_statement("b c d", "b c d e", 0.99, POLICY)


def test_a_repetition_writes_nothing() -> None:
    admitted = admit(fact("Alice likes TEA", "n"), [fact("Alice likes tea", "o")], [1.0], POLICY)
    assert (admitted.relation, admitted.memories, admitted.other) == (Relation.SAME, (), "o")


def test_a_near_duplicate_is_kept_hidden_and_can_return() -> None:
    new = fact("Alice likes the green tea", "n")
    admitted = admit(new, [fact("Alice likes green tea", "o")], [0.95], POLICY)
    (hidden,) = admitted.memories
    assert (admitted.relation, hidden.superseded_by) == (Relation.NEAR, "o")
    for moment in (None, START, START + timedelta(days=9)):
        assert Filter(as_of=moment).reason_against(hidden, START + timedelta(days=9)) == "superseded"
    assert unhidden(hidden) == new
    off = admit(new, [fact("Alice likes green tea", "o")], [0.95], DedupPolicy(enabled=False))
    assert off.relation is Relation.NEW


def test_a_newer_statement_on_a_subject_ends_the_older_one() -> None:
    old = fact("Alice lives in Rome", "o", metadata={SUBJECT: "alice/city"})
    new = fact("Alice lives in Oslo", "n", day=5, metadata={SUBJECT: "alice/city"})
    admitted = admit(new, [old], [0.2], POLICY)
    assert admitted.relation is Relation.ENDS
    first, dated = admitted.memories
    assert first == replace(new, valid_from=new.event_time)
    assert (dated.superseded_by, dated.valid_to) == ("n", new.event_time)
    then, later = START + timedelta(days=1), START + timedelta(days=9)
    assert Filter(as_of=then).reason_against(dated, later) is None
    assert Filter().reason_against(dated, later) == "superseded"


def test_an_older_or_less_trusted_statement_ends_nothing() -> None:
    subject = {SUBJECT: "alice/city"}
    old = fact("Alice lives in Rome", "o", day=5, metadata=subject)
    late = admit(fact("Alice lives in Oslo", "n", metadata=subject), [old], [0.5], POLICY)
    assert late.relation is Relation.LATE
    dated, begun = late.memories
    assert begun == replace(old, valid_from=old.event_time)
    assert (dated.superseded_by, dated.valid_from, dated.valid_to) == ("o", START, old.event_time)
    extracted = fact("Alice lives in Oslo", "n", day=9, metadata=subject, trust=Trust.EXTRACTED)
    assert admit(extracted, [old], [0.5], POLICY).relation is Relation.NEW
    correction = replace(extracted, trust=Trust.CORRECTION)
    assert admit(correction, [old], [0.5], POLICY).relation is Relation.ENDS


def test_an_announced_change_ends_only_what_it_takes_up() -> None:
    old = fact("the team ships on fridays", "o")
    change = fact("the team no longer ships on fridays but on mondays", "n", day=1)
    aside = fact("the garden shed moved behind the gate", "n", day=1)
    assert admit(change, [old], [0.8], POLICY).relation is Relation.ENDS
    assert admit(aside, [fact("the garden gate is green", "o")], [0.8], POLICY).relation is Relation.NEW


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("the user lives in berlin", "the user moved to munich and no longer lives in berlin", Relation.ENDS),
        ("the meeting is on monday", "correction: the meeting is on tuesday, not monday", Relation.ENDS),
        ("the team ships on fridays", "since may the team no longer ships on fridays", Relation.ENDS),
        ("the team ships on fridays", "the mobile team no longer ships on fridays", Relation.NEW),
        ("deploys happen on fridays", "deploys of the billing service no longer happen on fridays", Relation.NEW),
        ("the north gate is locked at night", "the south gate is no longer locked at night", Relation.NEW),
        ("the box is in the hall", "the second box moved into the hall", Relation.NEW),
        ("the pump runs at 40 percent", "the other pump runs at 40 percent instead", Relation.NEW),
    ],
)
def test_a_change_of_something_else_ends_nothing(old: str, new: str, relation: Relation) -> None:
    assert admit(fact(new, "n", day=1), [fact(old, "o")], [0.9], POLICY).relation is relation


def test_what_is_hidden_or_gone_is_no_candidate() -> None:
    gone = [fact("x", "a", superseded_by="b"), fact("x", "b", stage=Stage.DELETED), fact("x", "n")]
    assert admit(fact("x", "n"), gone, [1.0] * 3, POLICY).relation is Relation.NEW


def test_a_statement_never_ends_before_it_began() -> None:
    old = fact("x", "o", valid_from=START + timedelta(days=9))
    assert succession(fact("y", "n", day=1), [old])[1].valid_to == old.valid_from


def test_dedup_among_existing_keeps_the_trusted_then_the_older() -> None:
    memories = [
        fact("Alice likes the green tea", "b", day=2),
        fact("Alice likes green tea", "a", day=1),
        fact("Bob likes green tea", "c", day=1),
        fact("Alice likes green teas", "d", day=3, trust=Trust.CORRECTION),
        fact("Alice likes green tea", "e", kind=Kind.INSIGHT),
        fact("Alice likes green tea", "f", superseded_by="a"),
        fact("Alice likes green tea so", "p", pinned=True),
    ]

    def similar(_: str, others: Sequence[str]) -> list[float]:
        return [0.95] * len(others)

    assert plan_dedup(memories, similar, POLICY) == [
        Merge(keep="d", hide="a", similarity=0.95),
        Merge(keep="d", hide="b", similarity=0.95),
    ]
    assert plan_dedup(memories, similar, DedupPolicy(check_newest=1)) == []
    assert plan_dedup(memories, similar, DedupPolicy(enabled=False)) == []


def test_lexical_similarity_is_a_cosine_of_words() -> None:
    assert lexical_similarity("Alice likes tea", ["tea likes Alice", "Bob", ""]) == pytest.approx([1, 0, 0])
    assert lexical_similarity("red tea", ["red wine"]) == pytest.approx([0.5])


def test_the_borders_of_fields_count() -> None:
    assert fields_identity(["note-xy", "zeta log", ""]) != fields_identity(["note-x", "yzeta log", ""])
    assert fields_identity(["A", "b"]) == fields_identity(["a", " b "])


def test_hiding_keeps_the_wording() -> None:
    assert hidden_behind(fact("Tea!"), "o").content == "Tea!"
