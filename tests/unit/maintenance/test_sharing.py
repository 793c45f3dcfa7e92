"""A proposal is bound to what the memory said when it was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.errors import ConflictError
from haversack.lifecycle.proposals import Standing


@pytest.fixture
def sack() -> Iterator[Haversack]:
    with haversack.open(":memory:", embedder="none") as opened:
        yield opened


@pytest.mark.parametrize("change", [{"content": "my PIN is 4711"}, {"tags": ["urgent"]}, {"trust": "verified"}])
def test_what_was_changed_since_it_was_proposed_is_not_accepted(sack: Haversack, change: dict[str, Any]):
    mine, shared = sack.namespace("mine"), sack.namespace("shared")
    note = mine.remember("a harmless note")
    asked = mine.maintenance.propose(note.id, shared="shared", author="a").asked
    mine.edit(note.id, **change)
    with pytest.raises(ConflictError, match="was changed since proposal"):
        shared.maintenance.decide(asked.proposal, accept=True, by="b")
    assert shared.everything() == []
    assert [one.standing for one in shared.maintenance.proposals()] == [Standing.OPEN]
    shared.maintenance.decide(asked.proposal, accept=False, by="b")
    again = mine.maintenance.propose(note.id, shared="shared", author="a").asked
    _, copy = shared.maintenance.decide(again.proposal, accept=True, by="b")
    assert copy is not None
    assert copy.content == mine.get(note.id).content


def test_votes_and_use_do_not_end_a_proposal(sack: Haversack):
    mine, shared = sack.namespace("mine"), sack.namespace("shared")
    note = mine.remember("a harmless note")
    asked = mine.maintenance.propose(note.id, shared="shared", author="a").asked
    mine.vote(note.id, "up")
    _, copy = shared.maintenance.decide(asked.proposal, accept=True, by="b")
    assert copy is not None
    assert copy.content == "a harmless note"


def test_a_later_part_of_a_long_text_counts_too(sack: Haversack):
    mine, shared = sack.namespace("mine"), sack.namespace("shared")
    first = mine.remember("\n\n".join(f"Paragraph {number} of the document." for number in range(90)), kind="passage")
    parts = sorted(mine.everything(), key=lambda one: one.source.part or (0, 1))
    assert len(parts) > 1
    asked = mine.maintenance.propose(first.id, shared="shared", author="a").asked
    mine.edit(parts[1].id, content="other words")
    with pytest.raises(ConflictError):
        shared.maintenance.decide(asked.proposal, accept=True, by="b")


def test_the_journal_holds_no_words(sack: Haversack):
    mine = sack.namespace("mine")
    note = mine.remember("a harmless note")
    one, two = (mine.maintenance.propose(note.id, shared="shared", author="a").asked for _ in range(2))
    assert len(one.digest) == len(two.digest) == 64
    assert one.digest != two.digest
