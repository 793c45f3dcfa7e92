from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from haversack.compaction.dedup import SUBJECT, Relation, admit
from haversack.compaction.kinds import correction_of, practised, relation, traverse, with_outcome
from haversack.errors import InputError
from haversack.lifecycle.policy import DedupPolicy
from haversack.model.memory import Kind, Memory, Trust

START = datetime(2026, 1, 1, tzinfo=UTC)
LATER = START + timedelta(days=9)


def memory(kind: Kind, content: str = "x", name: str = "m", day: int = 0, **changes: object) -> Memory:
    at = START + timedelta(days=day)
    plain = Memory(id=name, kind=kind, content=content, created_at=at, event_time=at)
    return replace(plain, **changes)  # pyright: ignore[reportArgumentType]


def edge(name: str, subject: str, object_: str, day: int = 0) -> Memory:
    plain = memory(Kind.RELATION, f"{subject} knows {object_}", name, day)
    return relation(plain, subject, "knows", object_)


def test_a_decision_learns_its_outcome() -> None:
    first = with_outcome(memory(Kind.DECISION), "slow", START, worked=False)
    later = with_outcome(first, "fine", LATER, worked=True)
    assert (later.metadata["outcome"], later.metadata["worked"], later.content) == ("fine", True, "x")
    with pytest.raises(InputError, match="not a decision"):
        with_outcome(memory(Kind.FACT), "fine", START)


def test_a_procedure_counts_its_tries() -> None:
    tried = memory(Kind.PROCEDURE)
    for worked in (True, True, True, False):
        tried = practised(tried, LATER, worked=worked)
    assert (tried.metadata["successes"], tried.metadata["failures"]) == (3, 1)
    assert tried.confidence == pytest.approx(0.3006, abs=1e-4)
    assert practised(memory(Kind.PROCEDURE), LATER, worked=False).confidence == pytest.approx(0, abs=1e-9)


def test_relations_are_walked_both_ways_nearest_first() -> None:
    graph = [
        edge("1", "Alice", "Bob"),
        edge("2", "Carol", "bob", 1),
        edge("3", "Carol", "Dora", 2),
        edge("4", "Alice", "Carol", 3),
        edge("5", "Eve", "Frank"),
        memory(Kind.RELATION, name="broken"),
    ]
    hops = traverse(graph, "ALICE", LATER)
    assert [(hop.memory.id, hop.distance) for hop in hops] == [("1", 1), ("4", 1), ("2", 2), ("3", 2)]
    assert hops[2].path == ("ALICE", "Bob", "Carol")
    assert [hop.memory.id for hop in traverse(graph, "Alice", LATER, depth=1)] == ["1", "4"]
    assert len(traverse(graph, "Alice", LATER, limit=3)) == 3
    assert traverse(graph, "Nobody", LATER) == []


def test_only_relations_that_hold_are_walked() -> None:
    ended = replace(edge("1", "Alice", "Bob"), valid_to=START + timedelta(days=5))
    assert traverse([ended], "Alice", LATER) == []
    assert len(traverse([ended], "Alice", LATER, as_of=START + timedelta(days=1))) == 1


def test_a_single_relation_is_succeeded() -> None:
    rome = relation(memory(Kind.RELATION, "Alice lives in Rome", "a"), "Alice", "lives in", "Rome", single=True)
    oslo = relation(memory(Kind.RELATION, "Alice lives in Oslo", "b", 5), "Alice", "Lives in", "Oslo", single=True)
    assert (rome.entities, rome.metadata[SUBJECT]) == (("Alice", "Rome"), "alice/lives in")
    assert admit(oslo, [rome], [0.5], DedupPolicy()).relation is Relation.ENDS
    with pytest.raises(InputError, match="a subject"):
        relation(rome, "Alice", " ", "Oslo")


def test_a_correction_retires_what_it_corrects() -> None:
    old = memory(Kind.FACT, "The deadline is May 3", "a", metadata={SUBJECT: "deadline"}, importance=0.9)
    new, ended = correction_of(old, "The deadline is May 5", "b", LATER)
    assert (new.kind, new.trust, new.importance, new.metadata[SUBJECT]) == (
        Kind.CORRECTION,
        Trust.CORRECTION,
        0.9,
        "deadline",
    )
    assert (new.source.memories, ended.superseded_by, ended.valid_to) == (("a",), "b", LATER)
