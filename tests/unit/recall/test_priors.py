"""Trust, pins and entities: what they move, and that nothing moves where they are out of play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from haversack.model.memory import Kind, Memory, Trust
from haversack.model.query import Filter
from haversack.recall import Hit, Recall
from haversack.recall.names import Names, names_in
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

Put = Callable[..., list[Memory]]
NOW = datetime(2024, 6, 1, tzinfo=UTC)


def ask(store: MemoryStore, query: str, top_k: int = 50, chosen: Filter = Filter()) -> Mapping[str, Hit]:  # noqa: B008
    hits = Recall(store).search(["n"], query, filter=chosen, now=NOW, top_k=top_k)
    for hit in hits:
        assert hit.score == pytest.approx(hit.formula.score(hit.parts), rel=1e-4)
    return {hit.content: hit for hit in hits}


def test_the_more_trusted_of_two_that_say_it_with_the_same_words_comes_first(store: MemoryStore, put: Put) -> None:
    for trust, place in zip(Trust, ("hall", "pier", "mill", "tent"), strict=True):
        put([f"The team meets at the {place}"], trust=trust, kind=Kind.FACT)  # the later, the less trusted
    hits = ask(store, "Where does the team meet?")
    assert [content.rsplit(" ", 1)[1] for content in hits] == ["hall", "pier", "mill", "tent"]
    assert [hit.parts["trust"] for hit in hits.values()] == pytest.approx([1, 2 / 3, 1 / 3, 0])


@pytest.mark.parametrize("trust", list(Trust))
def test_one_level_of_trust_alone_changes_nothing(trust: Trust, store: MemoryStore, put: Put) -> None:
    other = MemoryStore()
    memories = put(["The ferry is late", "The ferry to Porto", "Soup"], trust=trust)
    other.apply("n", Batch(memories=tuple(replace(memory, trust=Trust.MANUAL) for memory in memories)))
    there, here = ask(other, "ferry"), ask(store, "ferry")
    assert {name: (hit.score, dict(hit.parts)) for name, hit in there.items()} == {
        name: (hit.score, dict(hit.parts)) for name, hit in here.items()
    }
    assert all("trust" not in hit.parts for hit in here.values())


def test_a_pin_counts_where_the_question_touches_the_memory(store: MemoryStore, put: Put) -> None:
    put(["Boats leave at noon", "Boats leave at nine"])
    before = list(ask(store, "When do boats leave?"))
    pinned, _ = put(["Boats leave at ten", "Soup is hot"], pinned=True)
    hits = ask(store, "When do boats leave?")
    assert next(iter(hits)) == pinned.content
    assert [hit.parts["pinned"] for hit in hits.values()] == [1, 0, 0]
    assert list(hits)[1:] == before


def test_who_is_named_is_found_though_the_words_do_not_say_it(store: MemoryStore, put: Put) -> None:
    (hers,) = put(["She keeps bees"], entities=("Lena Bosch",))
    put(["He keeps bees"], entities=("Lena Cerny",))
    put(["Bees and bees in every garden", "Bosch makes garden drills, and Lena buys them"])  # more of the same words
    hits = ask(store, "Does lena bosch's garden have bees?")
    assert next(iter(hits)) == hers.content
    assert [content for content, hit in hits.items() if hit.parts["entities"] == pytest.approx(1)] == [hers.content]


def test_one_step_leads_to_what_shares_nothing_with_the_question(store: MemoryStore, put: Put) -> None:
    put(["Lena is the sister of Maria"], entities=("Lena", "Maria"), kind=Kind.RELATION)
    (job,) = put(["The bakery opens at five and she opens it"], entities=("Lena",), kind=Kind.FACT)
    put(["Tomas repairs clocks"], entities=("Tomas",), kind=Kind.FACT)
    hits = ask(store, "Maria's sister")
    assert job.content in hits
    assert 0 < hits[job.content].parts["entities"] < 0.75
    assert "Tomas repairs clocks" not in hits
    assert job.content not in ask(store, "Maria's sister", chosen=Filter(kinds=frozenset({Kind.RELATION})))


def test_entities_that_many_list_lead_nowhere(store: MemoryStore, put: Put) -> None:
    put(["Lena is the sister of Maria"], entities=("Lena", "Maria"))
    put([f"Note {number}" for number in range(60)], entities=("Lena",))
    assert list(ask(store, "sister of Maria")) == ["Lena is the sister of Maria"]


def test_in_a_large_namespace_entities_alone_make_a_candidate(store: MemoryStore, put: Put) -> None:
    put([f"The sister of number {number} sang" for number in range(2500)])
    put(["Lena is the sister of Maria"], entities=("Lena", "Maria"))
    put(["The bakery opens at five"], entities=("Lena",))
    assert "The bakery opens at five" in ask(store, "Who is the sister of Maria?", top_k=3000)


def test_names_are_said_as_a_whole_in_order_whatever_their_case() -> None:
    names = Names(names_in(["New York", "york", "Jean-Luc", "東京", "!"]))
    said = {
        "what about NEW YORK?": ["york", "New York"],
        "york, new": ["york"],
        "new shoes": [],
        "Jean Luc's hat": ["Jean-Luc"],
        "東京はどこですか": ["東京"],
        "京都": [],
    }
    for text, expected in said.items():
        assert sorted(names.said(text)) == sorted(names_in(expected))
