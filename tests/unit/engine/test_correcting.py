"""Verbs of single kinds through the public face."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from haversack.engine.namespace import Namespace
from haversack.errors import InputError, NotFoundError
from haversack.model.memory import Kind, Trust


def test_a_correction_outranks_and_dates_what_it_corrects(ns: Namespace) -> None:
    wrong = ns.remember("The deadline is May 3", subject="deadline")
    right = ns.knowledge.correct(wrong.id, "The deadline is May 5")
    assert (right.kind, right.trust, right.source.memories) == (Kind.CORRECTION, Trust.CORRECTION, (wrong.id,))
    assert ns.get(wrong.id).superseded_by == right.id
    assert [memory.content for memory in ns.everything()] == ["The deadline is May 5"]
    assert ns.remember("The deadline is May 9", subject="deadline").superseded_by is None
    assert ns.get(right.id).superseded_by is None


def test_a_decision_learns_its_outcome(ns: Namespace) -> None:
    made = ns.remember("Use Postgres", kind="decision")
    told = ns.knowledge.outcome(made.id, "It held the load", worked=True)
    assert (told.metadata["outcome"], told.metadata["worked"], told.content) == (
        "It held the load",
        True,
        "Use Postgres",
    )
    with pytest.raises(InputError, match="not a decision"):
        ns.knowledge.outcome(ns.remember("a fact").id, "x")


def test_a_procedure_counts_its_tries(ns: Namespace) -> None:
    steps = ns.remember("Run the tests, then push", kind="procedure")
    for worked in (True, True, False):
        tried = ns.knowledge.practised(steps.id, worked=worked)
    assert (tried.metadata["successes"], tried.metadata["failures"]) == (2, 1)
    assert tried.confidence == pytest.approx(0.2077, abs=1e-4)


def test_relations_can_be_walked_and_a_single_one_is_succeeded(ns: Namespace) -> None:
    know = ns.knowledge
    know.relate("Alice", "works at", "Acme", event_time="2026-01-01", single=True)
    know.relate("Acme", "is in", "Oslo", event_time="2026-01-01", metadata={"from": "web"}, tags=["map"])
    know.relate("Alice", "works at", "Bolt", event_time="2026-02-01", single=True)
    assert [hop.path for hop in know.reach("alice")] == [("alice", "Bolt")]
    then = know.reach("Alice", as_of="2026-01-15")
    assert [hop.path for hop in then] == [("Alice", "Acme"), ("Alice", "Acme", "Oslo")]
    assert (then[1].memory.tags, then[1].memory.metadata["from"], then[1].distance) == (("map",), "web", 2)
    assert len(know.reach("Alice", as_of="2026-01-15", depth=1)) == 1


def test_what_makes_no_sense_is_refused(ns: Namespace) -> None:
    with pytest.raises(NotFoundError):
        ns.knowledge.correct("nothing", "x")
    with pytest.raises(InputError, match="content"):
        ns.knowledge.correct("nothing", " ")
    with pytest.raises(InputError, match="depth=0"):
        ns.knowledge.reach("Alice", depth=0)
    with pytest.raises(InputError, match="a subject, a predicate"):
        ns.knowledge.relate("Alice", " ", "Bob")


def test_the_history_of_a_subject_tells_what_is_true_when(ns: Namespace) -> None:
    ns.remember("Alice lives in Oslo", subject="alice/city", valid_from="2027-05-01")
    rome = ns.remember("Alice lives in Rome", subject="Alice/City", event_time="2026-01-01")
    ns.remember("Bob lives in Bern", subject="bob/city")
    told = ns.knowledge.history(" ALICE/city")
    assert [(one.content, one.valid_from, one.valid_to) for one in told] == [
        ("Alice lives in Rome", datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 5, 1, tzinfo=UTC)),
        ("Alice lives in Oslo", datetime(2027, 5, 1, tzinfo=UTC), None),
    ]
    ns.knowledge.relate("Alice", "works at", "Acme", single=True)
    assert [one.content for one in ns.knowledge.history("alice/works at")] == ["Alice works at Acme"]
    ns.forget(rome.id)
    assert [one.content for one in ns.knowledge.history("alice/city")] == ["Alice lives in Oslo"]
    assert ns.knowledge.history("nobody") == []
