from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from haversack.embed.embedder import Embedder
from haversack.embed.static import StaticEmbedder
from haversack.errors import InputError, QueryError
from haversack.model.memory import Kind, Memory, Source, Stage
from haversack.model.query import Filter
from haversack.recall import Recall
from haversack.scoring.blend import DEFAULT, SIMILARITY, Weights
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure


class CountingEmbedder(Embedder, Protocol):
    calls: int


Put = Callable[..., list[Memory]]
MakeEmbedder = Callable[[Mapping[str, Sequence[float]]], CountingEmbedder]
ANY = Filter()
NOW = datetime(2024, 6, 1, tzinfo=UTC)


def found(
    recall: Recall,
    query: str,
    *,
    namespaces: Sequence[str] = ("n",),
    filter: Filter = ANY,  # noqa: A002
    top_k: int = 50,
) -> list[str]:
    return [hit.id for hit in recall.search(namespaces, query, filter=filter, now=NOW, top_k=top_k)]


def test_a_write_is_seen_by_the_next_search(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    assert found(recall, "ferry") == []
    (first,) = put(["The ferry leaves at nine"])
    assert found(recall, "ferry") == [first.id]
    (second,) = put(["ferry ferry ferry"])
    assert set(found(recall, "ferry")) == {first.id, second.id}


def test_a_changed_memory_is_found_by_its_new_words_only(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    (memory,) = put(["The ferry leaves at nine"])
    found(recall, "ferry")
    store.apply("n", Batch(memories=(replace(memory, content="The bus leaves at ten"),)))
    assert found(recall, "ferry") == []
    assert found(recall, "bus") == [memory.id]


def test_an_erased_memory_is_gone(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    first, second = put(["a ferry", "another ferry"])
    found(recall, "ferry")
    store.apply("n", Batch(erase=Erasure(memories=(first.id,))))
    assert found(recall, "ferry") == [second.id]
    store.apply("n", Batch(erase=Erasure(everything=True)))
    assert found(recall, "ferry") == []


def test_deltas_rank_like_a_fresh_index(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    memories = put(["we took the ferry", "it was late", "the ferry was full", "we ate"], session="s")
    found(recall, "ferry")
    store.apply("n", Batch(memories=(replace(memories[1], content="the boat was late"),)))
    store.apply("n", Batch(erase=Erasure(memories=(memories[3].id,))))
    put(["a ferry again", "done"], session="s")
    fresh = Recall(store).search(["n"], "late ferry", now=NOW, top_k=10)
    assert recall.search(["n"], "late ferry", now=NOW, top_k=10) == fresh
    assert len(fresh) == 5


@pytest.mark.parametrize(
    ("query", "weights"),
    [
        ("late ferry", DEFAULT),  # sessions count
        ("the ferry in December", DEFAULT),  # the first year that is meant
        ("Did Ada like the soup?", DEFAULT),  # names of speakers
        ("late ferry", SIMILARITY),  # how rare a word is
    ],
)
def test_what_was_erased_leaves_no_trace_in_scores(store: MemoryStore, put: Put, query: str, weights: Weights) -> None:
    words = StaticEmbedder().words
    recall = Recall(store, words=words)
    put(["the ferry was full", "soup for two", "it was late", "ada: a ferry"], session="s")
    put(["we took the ferry", "late soup"], session="t", event_time=datetime(2024, 1, 3, tzinfo=UTC))
    gone = put(["late ferry", "late", "a ferry"], session="u", speaker="Ada")
    gone += put(["late"], session="v", event_time=datetime(2023, 12, 1, tzinfo=UTC))
    found(recall, "ferry")
    store.apply("n", Batch(erase=Erasure(memories=tuple(memory.id for memory in gone))))
    asked = {"query": query, "now": NOW, "top_k": 10, "weights": weights}
    assert recall.search(["n"], **asked) == Recall(store, words=words).search(["n"], **asked)  # type: ignore[arg-type]


def test_how_many_are_looked_at_does_not_depend_on_what_was_erased(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    kept, gone = put(["a ferry"] * 600), put(["a bus"] * 1500)
    found(recall, "ferry")
    store.apply("n", Batch(erase=Erasure(memories=tuple(memory.id for memory in gone))))
    assert set(found(recall, "ferry", top_k=1000)) == {memory.id for memory in kept}


def test_namespaces_have_their_own_statistics(store: MemoryStore, put: Put) -> None:
    put(["apples and pears", "pears"], namespace="a")
    alone = [hit.score for hit in Recall(store).search(["a"], "apples pears", now=NOW, top_k=5)]
    put(["pears"] * 50, namespace="b")
    beside = [hit.score for hit in Recall(store).search(["a"], "apples pears", now=NOW, top_k=5)]
    assert alone == beside
    both = Recall(store).search(["a", "b"], "apples pears", now=NOW, top_k=100)
    assert {hit.namespace for hit in both} == {"a", "b"}
    assert [hit.score for hit in both] == sorted((hit.score for hit in both), reverse=True)


@pytest.mark.parametrize("query", ["", "   ", "\t\n", "\u200b"])
def test_a_blank_query_is_an_error_before_the_embedder_is_asked(
    store: MemoryStore, put: Put, embedder_of: MakeEmbedder, query: str
) -> None:
    put(["something"])
    embedder = embedder_of({"something": [1.0, 0.0]})
    recall = Recall(store, embedder)
    with pytest.raises(QueryError):
        found(recall, query)
    with pytest.raises(QueryError):
        recall.explain(["n"], query, "x", now=NOW)
    assert embedder.calls == 0


def test_top_k(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    put(["red", "red", "red"])
    assert [len(found(recall, "red", top_k=k)) for k in (10, 3, 1, 0)] == [3, 3, 1, 0]
    with pytest.raises(InputError):
        found(recall, "red", top_k=-1)


def test_ties_stand_in_order_of_arrival(store: MemoryStore, put: Put) -> None:
    at = datetime(2024, 5, 1, tzinfo=UTC)
    memories = put(["same words"] * 4, event_time=at)
    assert found(Recall(store), "same words") == [memory.id for memory in memories]


def test_filters_are_exact(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    (fact,) = put(["tea"], kind=Kind.FACT, tags=("drink", "hot"), metadata={"n": 1, "l": [1, 2]})
    (talk,) = put(["tea"], session="s", tags=("drink",), metadata={"n": 2, "l": [1]})
    assert found(recall, "tea", filter=Filter(kinds=frozenset({Kind.FACT}))) == [fact.id]
    assert found(recall, "tea", filter=Filter(tags=frozenset({"drink", "hot"}))) == [fact.id]
    assert found(recall, "tea", filter=Filter(tags=frozenset({"cold"}))) == []
    assert found(recall, "tea", filter=Filter(session="s")) == [talk.id]
    assert found(recall, "tea", filter=Filter(session="nowhere")) == []
    assert found(recall, "tea", filter=Filter(where=(("n", 2),))) == [talk.id]
    assert found(recall, "tea", filter=Filter(where=(("n", True),))) == []
    assert found(recall, "tea", filter=Filter(where=(("l", [1]),))) == [talk.id]
    assert found(recall, "tea", filter=Filter(since=talk.event_time)) == [talk.id]
    assert found(recall, "tea", filter=Filter(until=talk.event_time)) == [fact.id]


def test_what_is_over_does_not_answer(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    live, deleted, superseded, expired, ended, early = put(["tea"] * 6)
    past, future = datetime(2024, 5, 20, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
    changed = (
        replace(deleted, stage=Stage.DELETED),
        replace(superseded, superseded_by=live.id, valid_to=past + timedelta(days=1)),
        replace(expired, expires_at=past),
        replace(ended, valid_to=past),
        replace(early, valid_from=future),
    )
    store.apply("n", Batch(memories=changed))
    assert found(recall, "tea") == [live.id]
    assert superseded.id in found(recall, "tea", filter=Filter(as_of=past))


def test_a_turn_is_found_by_its_neighbours(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    turns = put(["How was Lisbon?", "Lovely, we stayed a week", "Good"], session="s")
    put(["Lovely weather"])
    hits = {hit.id: hit for hit in recall.search(["n"], "Lisbon", now=NOW, top_k=10)}
    assert list(hits)[:2] == [turns[0].id, turns[1].id]
    assert hits[turns[1].id].parts["neighbours"] > 0


def test_explain(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    first, other = put(["green tea", "coffee"])
    standing = recall.explain(["n"], "tea", first.id, now=NOW)
    assert standing is not None
    assert (standing.rank, standing.reason, standing.candidates) == (1, None, 1)
    facts = Filter(kinds=frozenset({Kind.FACT}))
    unrelated = recall.explain(["n"], "tea", other.id, now=NOW)
    filtered = recall.explain(["n"], "tea", first.id, filter=facts, now=NOW)
    assert unrelated is not None
    assert filtered is not None
    assert (unrelated.reason, filtered.reason) == ("unrelated", "kind")
    assert recall.explain(["n"], "tea", "nobody", now=NOW) is None


def test_listing_needs_no_query(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    (low,) = put(["a"], importance=0.1)
    (high,) = put(["b"], importance=0.9)
    (pinned,) = put(["c"], importance=0.0, pinned=True)
    listed = recall.view(["n"]).listing(now=NOW, top_k=10)
    assert [hit.id for hit in listed] == [pinned.id, high.id, low.id]
    assert [hit.id for hit in recall.view(["n"]).listing(now=NOW, top_k=10, pinned=True)] == [pinned.id]


def test_memories_without_a_vector_are_ranked_by_words_until_embedded(
    store: MemoryStore, put: Put, embedder_of: MakeEmbedder
) -> None:
    embedder = embedder_of({"ship": [1.0, 0.0], "a vessel": [0.9, 0.1], "a ship": [0.9, 0.2], "soup": [0.0, 1.0]})
    recall = Recall(store, embedder)
    vessel, ship, soup = put(["a vessel", "a ship", "soup"])
    assert recall.missing("n") == [vessel.id, ship.id, soup.id]
    assert found(recall, "ship") == [ship.id]
    assert recall.reembed("n", limit=2) == 1
    assert recall.reembed("n", limit=2) == 0
    assert recall.missing("n") == []
    assert found(recall, "ship") == [ship.id, vessel.id]
    assert found(Recall(store, embedder), "ship") == [ship.id, vessel.id]


def test_least_recently_used_namespaces_leave_first(store: MemoryStore, put: Put) -> None:
    for name in "abc":
        put(["tea"] * 10, namespace=name)
    recall = Recall(store, limit_bytes=1)
    assert [len(found(recall, "tea", namespaces=[name])) for name in "abca"] == [10, 10, 10, 10]


def test_no_query_word_is_syntax(store: MemoryStore, put: Put) -> None:
    put(["plain"], source=Source(session="s"))
    for query in ["*", "-", "^", '"', "()", "col:val", "' OR 1=1 --", "a AND", "100%", "parser\x00zzz", "x" * 100_000]:
        assert isinstance(found(Recall(store), query), list)


def test_an_entity_that_the_text_does_not_name_finds_it(store: MemoryStore, put: Put) -> None:
    (memory, _) = (*put(["She moved to Porto"], entities=("Alice Kim",)), *put(["Bob stayed"]))
    assert found(Recall(store), "where is Alice?") == [memory.id]


def test_similarity_ranks_by_the_cosine_alone(store: MemoryStore, put: Put, embedder_of: MakeEmbedder) -> None:
    vectors = {"ask": [1.0, 0.0], "near": [0.8, 0.6], "far": [0.6, 0.8], "away": [-1.0, 0.0], "ask ask": [0.0, 1.0]}
    recall = Recall(store, embedder_of(vectors))
    far, near, _ = put(["far", "near", "away"])
    put(["ask ask"], importance=1.0, pinned=True)  # its words are the question's, its meaning is not
    recall.reembed("n")
    hits = recall.search(["n"], "ask", now=NOW, top_k=10, weights=SIMILARITY)
    assert [hit.id for hit in hits] == [near.id, far.id]
    assert [hit.score for hit in hits] == pytest.approx([0.8, 0.6], abs=0.01)
    assert [hit.parts for hit in hits] == [{"meaning": hit.score} for hit in hits]
    assert recall.search(["n"], "ask", now=NOW, top_k=1, weights=SIMILARITY) == hits[:1]
    standing = recall.explain(["n"], "ask", far.id, now=NOW, weights=SIMILARITY)
    assert standing is not None
    assert (standing.rank, standing.score, standing.parts) == (2, hits[1].score, hits[1].parts)


def test_similarity_of_what_has_no_direction_is_the_share_of_the_words(
    store: MemoryStore, put: Put, embedder_of: MakeEmbedder
) -> None:
    same, _ = put(["zzz", "tea"])
    recall = Recall(store, embedder_of({"zzz": [0.0, 0.0], "tea": [1.0, 0.0]}))
    recall.reembed("n")
    hits = recall.search(["n"], "zzz", now=NOW, top_k=10, weights=SIMILARITY)
    assert [(hit.id, hit.parts) for hit in hits] == [(same.id, {"words": 1.0})]


def test_similarity_without_vectors_is_the_share_of_the_words(store: MemoryStore, put: Put) -> None:
    both, one, _ = put(["ferry harbour", "ferry", "train"])
    hits = Recall(store).search(["n"], "ferry harbour", now=NOW, top_k=10, weights=SIMILARITY)
    assert [hit.id for hit in hits] == [both.id, one.id]
    assert hits[0].score == 1


def test_several_filters_are_searched_at_once_with_comparable_scores(store: MemoryStore, put: Put) -> None:
    recall = Recall(store)
    facts = put(["the ferry to Oslo leaves at nine", "tea"], kind=Kind.FACT)
    notes = put(["a ferry", "soup"], kind=Kind.DECISION)
    filters = [Filter(kinds=frozenset({kind})) for kind in (Kind.FACT, Kind.DECISION, Kind.ENTITY)]
    found = recall.view(["n"]).search_each(recall.asked("ferry to Oslo", now=NOW), filters, top_k=5)
    both = {hit.id: hit.score for hit in recall.search(["n"], "ferry to Oslo", now=NOW, top_k=5)}
    assert [[hit.id for hit in hits] for hits in found] == [[facts[0].id], [notes[0].id], []]
    assert {hit.id: hit.score for hits in found for hit in hits} == both


def test_weak_answers_under_one_filter_are_not_crowded_out_by_another(store: MemoryStore, put: Put) -> None:
    put([f"the ferry to Oslo, sailing {number}" for number in range(2_100)])
    (fact,) = put(["Oslo is cold"], kind=Kind.FACT)
    filters = [Filter(kinds=frozenset({kind})) for kind in (Kind.PASSAGE, Kind.FACT)]
    recall = Recall(store)
    passages, facts = recall.view(["n"]).search_each(recall.asked("the ferry to Oslo", now=NOW), filters, top_k=5)
    assert len(passages) == 5
    assert [hit.id for hit in facts] == [fact.id]


def test_a_turn_that_a_filter_keeps_out_speaks_for_its_neighbour_no_louder_than_a_perfect_match(
    store: MemoryStore, put: Put
) -> None:
    put(["The ferry, the ferry to Lisbon, Lisbon?"], session="s")
    answer, other = put(["Yes, at noon", f"Some other ferry {'and more words ' * 20}"], session="s", tags=("kept",))
    hits = Recall(store).search(["n"], "ferry to Lisbon", filter=Filter(tags=frozenset({"kept"})), now=NOW, top_k=5)
    assert {hit.id for hit in hits} == {answer.id, other.id}
    for hit in hits:
        assert hit.score == pytest.approx(hit.formula.score(hit.parts), rel=1e-4)
        assert max(hit.parts.values()) <= 1


@pytest.mark.parametrize("many", [30, 3000])
def test_a_named_day_or_month_is_found_without_a_word_of_it(store: MemoryStore, put: Put, many: int) -> None:
    put([f"soup number {number}" for number in range(many)], event_time=datetime(2024, 2, 2, tzinfo=UTC))
    (that_day,) = put(["we walked along the shore"], event_time=datetime(2024, 5, 31, 9, tzinfo=UTC))
    (that_month,) = put(["rain all week"], event_time=datetime(2023, 11, 3, tzinfo=UTC))
    (that_year,) = put(["the roof leaked"], event_time=datetime(2022, 7, 3, tzinfo=UTC))
    recall = Recall(store)
    assert found(recall, "What happened yesterday?") == [that_day.id]
    assert found(recall, "Was ist gestern passiert?") == [that_day.id]
    assert found(recall, "anything in November?") == [that_month.id]
    assert found(recall, "roof yesterday")[:1] == [that_year.id]
    assert found(recall, "What happened yesterday?", filter=Filter(until=datetime(2024, 5, 1, tzinfo=UTC))) == []
    assert len(found(recall, "What happened in February?", top_k=5000)) == min(many, 512)


def test_a_year_alone_is_found_where_no_word_is(store: MemoryStore, put: Put) -> None:
    (leak,) = put(["the roof leaked"], event_time=datetime(2022, 7, 3, tzinfo=UTC))
    (soup,) = put(["there was soup"], event_time=datetime(2022, 8, 3, tzinfo=UTC))
    recall = Recall(store)
    assert set(found(recall, "What happened in 2022?")) == {leak.id, soup.id}
    assert found(recall, "Which soup in 2022?") == [soup.id]
