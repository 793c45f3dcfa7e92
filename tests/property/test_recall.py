from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.embed.static import StaticEmbedder
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source, Stage, Trust
from haversack.model.query import Filter
from haversack.recall import Recall, View
from haversack.recall.chunks import chunk
from haversack.scoring.blend import DEFAULT, RETRIEVAL, SIMILARITY, Weights
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure
from haversack.testing.names import NEAR_NAMES
from haversack.testing.store_contract import sample_memory

START = datetime(2024, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=30)
EMBEDDER = StaticEmbedder()
WORDS = ["ferry", "late", "soup", "we", "rain?", "図書館", "Лодка", "2024", "always"]
contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
moments = st.one_of(st.none(), st.integers(-5, 60).map(lambda days: START + timedelta(days=days)))


@st.composite
def memories(draw: st.DrawFn, number: int) -> Memory:
    at = START + timedelta(hours=draw(st.integers(0, 400)))
    return Memory(
        id=make_id(at, number.to_bytes(10, "big")),
        kind=draw(st.sampled_from([Kind.PASSAGE, Kind.PASSAGE, Kind.FACT])),
        content=draw(contents),
        created_at=at,
        event_time=at,
        speaker=draw(st.sampled_from(["", "Ada", "user"])),
        importance=draw(st.sampled_from([0.1, 0.5, 0.9])),
        tags=draw(st.sampled_from([(), ("a",), ("a", "b")])),
        entities=draw(st.sampled_from([(), (), ("soup",), ("Late Rain", "soup"), ("図書",)])),
        trust=draw(st.sampled_from([Trust.MANUAL, Trust.MANUAL, Trust.EXTRACTED])),
        pinned=draw(st.sampled_from([False, False, True])),
        metadata=draw(st.sampled_from([{}, {"n": 1}, {"n": True}, {"n": 1.5}, {"l": [1]}, {"l": [2]}, {"n": None}])),
        source=Source(session=draw(st.sampled_from([None, "s", "t"]))),
        valid_from=draw(moments),
        valid_to=draw(moments),
        expires_at=draw(moments),
        superseded_by=draw(st.sampled_from([None, None, "other"])),
        stage=draw(st.sampled_from([Stage.ACTIVE, Stage.ACTIVE, Stage.DELETED, Stage.LONG_TERM])),
    )


@st.composite
def batches(draw: st.DrawFn) -> list[Memory]:
    return [draw(memories(number)) for number in range(1, draw(st.integers(1, 12)) + 1)]


filters = st.builds(
    Filter,
    kinds=st.sampled_from([None, frozenset({Kind.FACT}), frozenset({Kind.FACT, Kind.PASSAGE}), frozenset()]),
    tags=st.sampled_from([frozenset[str](), frozenset({"a"}), frozenset({"a", "b"}), frozenset({"c"})]),
    session=st.sampled_from([None, "s", "nowhere"]),
    since=moments,
    until=moments,
    where=st.sampled_from([(), (("n", 1),), (("n", None),), (("l", [1]),), (("absent", 1),)]),
    as_of=moments,
)


def stored(rows: Sequence[Memory], namespace: str = "n", store: MemoryStore | None = None) -> MemoryStore:
    store = store or MemoryStore()
    store.apply(namespace, Batch(memories=tuple(rows)))
    return store


@given(rows=batches(), chosen=filters)
def test_a_filter_lets_pass_exactly_what_it_says(rows: list[Memory], chosen: Filter) -> None:
    listed = Recall(stored(rows)).view(["n"]).listing(chosen, now=NOW, top_k=100)
    passing = {row.id for row in rows if chosen.reason_against(row, NOW) is None}
    assert {hit.id for hit in listed} == passing
    found = Recall(stored(rows)).search(["n"], "ferry late 図書館", filter=chosen, now=NOW, top_k=100)
    assert {hit.id for hit in found} <= passing


@given(rows=batches(), chosen=filters, word=st.sampled_from(["ferry", "soup", "2024"]))
def test_what_passes_and_holds_the_word_is_found(rows: list[Memory], chosen: Filter, word: str) -> None:
    found = Recall(stored(rows)).search(["n"], word, filter=chosen, now=NOW, top_k=100)
    holders = {row.id for row in rows if word in row.content.split() and chosen.reason_against(row, NOW) is None}
    assert holders <= {hit.id for hit in found}


@given(
    rows=batches(),
    query=contents,
    end=st.sampled_from(["", " latest"]),
    few=st.integers(1, 12),
    weights=st.sampled_from(
        [DEFAULT, RETRIEVAL, SIMILARITY, replace(DEFAULT, importance=100.0), replace(RETRIEVAL, relevance=1e-45)]
    ),
    chosen=st.sampled_from([Filter(), Filter(session="s"), Filter(tags=frozenset({"a"}))]),
    embedder=st.sampled_from([None, EMBEDDER]),
)
def test_scores_fall_and_their_signals_make_them(
    rows: list[Memory],
    query: str,
    end: str,
    few: int,
    weights: Weights,
    chosen: Filter,
    embedder: StaticEmbedder | None,
) -> None:
    recall, asked = Recall(stored(rows), embedder), query + end
    recall.reembed("n", limit=len(rows) - len(rows) // 3)
    hits = recall.search(["n"], asked, filter=chosen, now=NOW, top_k=50, weights=weights)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert all(0 <= part <= 1 for part in hit.parts.values())
        formula = hit.formula
        assert all(weight >= 0 for weight in formula.weights.values())
        total = formula.start + math.fsum(weight * hit.parts[name] for name, weight in formula.weights.items())
        score = 1 / (1 + math.exp(-total)) if formula.logistic else total
        assert hit.score == pytest.approx(score, rel=1e-4, abs=1e-6)
        assert hit.formula.score(hit.parts) == pytest.approx(score)
    assert recall.search(["n"], asked, filter=chosen, now=NOW, top_k=few, weights=weights) == hits[:few]


@given(rows=batches(), query=st.sampled_from(["図書館", "図", "書館の本"]))
def test_words_of_other_alphabets_rank_as_if_there_were_no_vectors(rows: list[Memory], query: str) -> None:
    plain = Recall(stored(rows)).search(["n"], query, now=NOW, top_k=50)
    store = stored(rows)
    recall = Recall(store, StaticEmbedder())
    recall.reembed("n")
    assert recall.search(["n"], query, now=NOW, top_k=50) == plain


changes = st.lists(
    st.tuples(st.sampled_from(["word", "stage", "erase", "add", "ask"]), st.integers(0, 11), contents), max_size=12
)


@given(rows=batches(), steps=changes, query=contents)
@settings(deadline=None)
def test_an_index_kept_fresh_answers_like_a_new_one(
    rows: list[Memory], steps: list[tuple[str, int, str]], query: str
) -> None:
    store, living = stored(rows), {row.id: row for row in rows}
    kept, held = Recall(store), list[View]()
    for number, (verb, which, words) in enumerate(steps, 100):
        chosen = list(living.values())[which % len(living)] if living else None
        if verb == "add" or chosen is None:
            row = replace(rows[0], id=make_id(NOW, number.to_bytes(10, "big")), content=words)
            living[row.id] = row
            store.apply("n", Batch(memories=(row,)))
        elif verb == "erase":
            del living[chosen.id]
            store.apply("n", Batch(erase=Erasure(memories=(chosen.id,))))
        elif verb == "ask":
            held.append(kept.view(["n"]))
        else:
            field = {"content": words} if verb == "word" else {"stage": Stage.DELETED}
            living[chosen.id] = replace(chosen, **field)  # type: ignore[arg-type]
            store.apply("n", Batch(memories=(living[chosen.id],)))
    assert kept.search(["n"], query, now=NOW, top_k=50) == Recall(store).search(["n"], query, now=NOW, top_k=50)


@given(rows=batches(), others=batches(), query=contents)
def test_nothing_crosses_a_namespace(rows: list[Memory], others: list[Memory], query: str) -> None:
    alone = Recall(stored(rows)).search(["n"], query, now=NOW, top_k=50)
    beside = Recall(stored(others, "N", stored(rows))).search(["n"], query, now=NOW, top_k=50)
    assert alone == beside


@pytest.mark.parametrize("saved", [False, True])
def test_near_names_share_no_index_no_statistic_and_no_segment(*, saved: bool) -> None:
    """Each namespace answers as if it were alone in the store, before and after its index was saved."""
    store, alone = MemoryStore(), dict[str, list[tuple[str, float]]]()
    for number, name in enumerate(NEAR_NAMES):
        rows = [
            replace(sample_memory(100 * number + place), content=f"ferry {'late ' * (number % 3)}note {number} {place}")
            for place in range(1 + number % 4)
        ]
        stored(rows, name, store)
        found = Recall(stored(rows)).search(["n"], "late ferry", now=NOW, top_k=50)
        alone[name] = [(hit.id, hit.score) for hit in found]
    recall = Recall(store)
    if saved:
        for name in NEAR_NAMES:
            recall.save(name)
        recall.close()
        recall = Recall(store)
    for name in (*NEAR_NAMES, *reversed(NEAR_NAMES)):
        found = recall.search([name], "late ferry", now=NOW, top_k=50)
        assert [(hit.id, hit.score) for hit in found] == alone[name]
        assert {hit.namespace for hit in found} == {name}
        assert len(recall.view([name]).listing(now=NOW, top_k=50)) == len(alone[name])
    recall.forget(NEAR_NAMES[0])
    store.apply(NEAR_NAMES[0], Batch(erase=Erasure(everything=True)))
    for name in NEAR_NAMES:
        assert len(recall.search([name], "late ferry", now=NOW, top_k=50)) == (0 if name == "u" else len(alone[name]))


@given(text=st.text(st.sampled_from("ab .!?\n`~。\u3000é"), max_size=300), target=st.integers(1, 20))
def test_chunks_are_the_text_again(text: str, target: int) -> None:
    pieces = chunk(text, lambda texts: [len(each) for each in texts], target=target)
    assert "".join(pieces) == text
    assert all(pieces) or text == ""


@given(
    before=st.text("ab .\n", max_size=60),
    after=st.text("ab .\n", max_size=60),
    code=st.text("xy \n", max_size=80),
    marks=st.sampled_from(
        ["```|```", "````md|````", "~~~ c|~~~", "```|`````", "  ```|   ```", "> ```|> ```", "1. ~~~|~~~"]
    ),
    inside=st.sampled_from(["", "``\n", "~~\n", "``` x\n", "```py\nz\n"]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_a_fence_is_never_cut(before: str, after: str, code: str, marks: str, inside: str, newline: str) -> None:
    opening, closing = marks.split("|")
    fence = f"{opening}\n{inside}{code}\n{closing}\n".replace("\n", newline)
    pieces = chunk(f"{before}\n{fence}{after}", lambda texts: [len(each) for each in texts], target=10)
    assert any(fence in piece for piece in pieces)


@given(text=st.text("👩🚲漢か。aé .", max_size=2000))
def test_no_chunk_of_plain_text_is_longer_than_it_may_be(text: str) -> None:
    pieces = chunk(text, lambda texts: [len(each.encode()) for each in texts])
    assert max((len(piece.encode()) for piece in pieces), default=0) <= 250


@given(batch=batches(), pick=st.integers(0, 11), embedded=st.booleans())
def test_identical_text_ranks_first(batch: list[Memory], pick: int, embedded: bool) -> None:  # noqa: FBT001
    """Law: whatever else speaks for others, a memory that says the query word for word stands first."""
    store = MemoryStore()
    store.apply("n", Batch(memories=tuple(batch)))
    recall = Recall(store, EMBEDDER if embedded else None)
    while embedded and recall.reembed("n"):
        pass
    query = batch[pick % len(batch)].content
    live = {memory.id for memory in batch if Filter().reason_against(memory, NOW) is None}
    hits = recall.search(["n"], query.upper(), now=NOW, top_k=12)
    if any(memory.content.casefold() == query.casefold() for memory in batch if memory.id in live):
        assert hits[0].content.casefold() == query.casefold()
        assert hits[0].parts["verbatim"] == 1
