from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from haversack.model.memory import Memory
from haversack.recall import Hit, Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def asked(make: Callable[..., Memory]) -> Callable[..., list[Hit]]:
    def ask(query: str, *memories: Memory) -> list[Hit]:
        store = MemoryStore()
        store.apply("n", Batch(memories=memories))
        return Recall(store).search(["n"], query, now=NOW, top_k=9)

    return ask


def test_the_same_question_asked_before_stands_before_its_answer(
    asked: Callable[..., list[Hit]], make: Callable[..., Memory]
) -> None:
    said = make("What  units does Alice\nprefer?", speaker="Alice", session="s")
    answer = make("Alice prefers metric units, Alice always prefers metric units", speaker="Bob", session="s")
    hits = asked("what units does alice prefer?", answer, said)
    assert [hit.id for hit in hits] == [said.id, answer.id]
    assert [hit.parts["verbatim"] for hit in hits] == [1, 0]


def test_the_same_words_in_another_order_are_another_text(
    asked: Callable[..., list[Hit]], make: Callable[..., Memory]
) -> None:
    hits = asked("dogs chase cats", make("cats chase dogs"), make("dogs chase cats with a ball"))
    assert len(hits) == 2
    assert all("verbatim" not in hit.parts for hit in hits)


def test_entities_beside_the_text_do_not_hide_it(asked: Callable[..., list[Hit]], make: Callable[..., Memory]) -> None:
    told = make("She moved to Ghent", entities=("Maria", "Old Harbour Street"))
    assert asked("she moved to ghent", make("She moved to Ghent again and again to Ghent"), told)[0].id == told.id
