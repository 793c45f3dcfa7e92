"""`extract` and `cost` at the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import haversack
from haversack.llm.cost import Call, Purpose
from haversack.store.port import Batch, Written

from .conftest import Run


@pytest.fixture
def talk() -> None:
    with haversack.open("haversack.db") as sack:
        session = sack.namespace().session("talk")
        session.add("user", "I live in Rome.")
        session.add("assistant", "Lovely.")


def test_extract_reads_what_was_not_read_yet(run: Run, talk: None) -> None:
    done = run("extract", "--json").data
    assert (done["talk"]["turns"], len(done["talk"]["added"])) == (2, 1)
    again = run("extract", "talk")
    assert (again.code, again.out.split()[-5:]) == (0, ["talk", "0", "0", "0", "0"])
    assert run("extract").err == "every turn was read before\n"
    assert run("extract", "tale").code == 3
    assert "Rome" in run("recall", "Where?", "--kind", "profile").out


def test_cost_tells_calls_by_what_they_were_for(run: Run, talk: None) -> None:
    assert run("cost").err == "no model was called\n"
    with haversack.open("haversack.db") as sack:
        for number, (purpose, dollars) in enumerate([(Purpose.EXTRACTION, 0.25), (Purpose.COMPACTION, None)]):
            call = Call(
                at=datetime(2026, 3, 1 + number, tzinfo=UTC),
                purpose=purpose,
                model="tiny",
                namespace="default",
                session="talk",
                input_tokens=1000,
                output_tokens=20,
                dollars=dollars,
            )
            key = f"01JTEST{number:019}"
            sack._core.store.apply(
                "default", Batch(records=(Written(collection="cost", key=key, value=call.encode()),))
            )
    shown = run("cost")
    assert [line.split() for line in shown.out.splitlines()[1:]] == [
        ["compaction", "1", "1,000", "20", "$0.0000"],
        ["extraction", "1", "1,000", "20", "$0.2500"],
        ["all", "2", "2,000", "40", "$0.2500"],
    ]
    assert "no price is set for tiny" in shown.err
    assert [line.split()[0] for line in run("cost", "--by", "day").out.splitlines()[1:]] == [
        "2026-03-01",
        "2026-03-02",
        "all",
    ]
    assert [call["purpose"] for call in run("cost", "--json", "--all").data] == ["extraction", "compaction"]


def test_a_newer_statement_ends_the_older_one_and_the_past_can_be_asked(run: Run) -> None:
    run("remember", "Alice lives in Rome", "--subject", "alice/city", "--at", "2026-01-01")
    run("remember", "Alice lives in Oslo", "--subject", "alice/city", "--at", "2026-02-01")
    assert [hit["memory"]["content"] for hit in run("recall", "Where is Alice?", "--json").data] == [
        "Alice lives in Oslo"
    ]
    then = run("recall", "Where is Alice?", "--as-of", "2026-01-15", "--json").data
    assert [hit["memory"]["content"] for hit in then] == ["Alice lives in Rome"]
    late = run("remember", "Alice lives in Bern", "--subject", "alice/city", "--at", "2025-12-01")
    assert "is kept but not recalled" in late.err


def test_the_history_of_a_subject_says_from_when_until_when(run: Run) -> None:
    run("remember", "Alice lives in Oslo", "--subject", "alice/city", "--begins", "2027-05-01")
    run("remember", "Alice lives in Rome", "--subject", "alice/city", "--at", "2026-01-01")
    lines = [line.split() for line in run("history", "alice/city").out.splitlines()[1:]]
    assert [[line[0], line[2], line[-1]] for line in lines[:1]] == [["2026-01-01", "2027-05-01", "Rome"]]
    assert [[line[0], line[-1]] for line in lines[1:]] == [["2027-05-01", "Oslo"]]
    assert [one["content"][-4:] for one in run("history", "alice/city", "--json").data] == ["Rome", "Oslo"]
    assert run("history", "bob/city").err == "nothing was told on 'bob/city'\n"
