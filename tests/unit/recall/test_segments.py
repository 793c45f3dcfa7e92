from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from haversack.embed.codec import encode_vectors
from haversack.embed.static import StaticEmbedder
from haversack.model.memory import Memory
from haversack.recall import Recall, indexed_text
from haversack.recall.keeping import restore
from haversack.store.port import SEGMENT, Applied, Batch, Erasure, Vector, Written
from haversack.store.sqlite.store import SqliteStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)
EMBEDDER = StaticEmbedder()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "memory.db")
    yield store
    store.close()


@pytest.fixture
def filled(disk: SqliteStore, make: Callable[..., Memory]) -> SqliteStore:
    memories = [
        make(f"turn {n} about {word}?", session=f"s{n % 3}", speaker="Ada", tags=("t",), metadata={"n": n})
        for n, word in enumerate(["ships", "soup", "ferries", "rain"] * 10)
    ]
    data = encode_vectors(EMBEDDER.embed([indexed_text(memory) for memory in memories]))
    vectors = [Vector(memory=m.id, model=EMBEDDER.model, data=d) for m, d in zip(memories, data, strict=True)]
    disk.apply("n", Batch(memories=tuple(memories), vectors=tuple(vectors)))
    return disk


def kept(store: SqliteStore) -> bool:
    return restore(store, "n", EMBEDDER.model, EMBEDDER.dimension, EMBEDDER) is not None


def test_a_kept_index_answers_like_a_built_one(filled: SqliteStore, make: Callable[..., Memory]) -> None:
    built = Recall(filled, EMBEDDER)
    built.save("n")
    assert kept(filled)
    filled.apply("n", Batch(memories=(make("a late ferry", session="s1", speaker="Bo"),)))
    cold = Recall(filled, EMBEDDER)
    for query in ["when do the ships leave?", "soup", "did Ada see rain?"]:
        assert cold.search(["n"], query, now=NOW, top_k=30) == built.search(["n"], query, now=NOW, top_k=30)


def test_a_kept_index_knows_its_rows_before_and_behind_its_first_change(
    filled: SqliteStore, make: Callable[..., Memory]
) -> None:
    Recall(filled, EMBEDDER).save("n")
    found = restore(filled, "n", EMBEDDER.model, EMBEDDER.dimension, EMBEDDER)
    assert found is not None
    index, late = found.index, make("a late ferry")
    before, first, last = index.view(), index.ids[0], index.ids[-1]
    assert (index.row_of(first), index.row_of(last), index.row_of(late.id)) == (0, 39, None)
    index.put([late], {})
    index.drop([first])
    assert (index.row_of(first), index.row_of(last), index.row_of(late.id)) == (None, 39, 40)
    assert (before.row_of(first), before.row_of(last), before.row_of(late.id)) == (0, 39, None)


def test_an_erasure_drops_what_was_kept_and_the_next_save_holds_nothing_of_it(filled: SqliteStore) -> None:
    recall = Recall(filled, EMBEDDER)
    recall.save("n")
    first = recall.search(["n"], "ships", now=NOW, top_k=1)[0].id
    filled.apply("n", Batch(erase=Erasure(memories=(first,))))
    assert filled.records("n", SEGMENT) == []
    recall.save("n")
    assert kept(filled)
    assert all(first.encode() not in record.value for record in filled.records("n", SEGMENT))


@pytest.mark.parametrize("before", [1, 2])
def test_an_erasure_while_the_index_is_saved_leaves_nothing_of_it(
    filled: SqliteStore, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    recall = Recall(filled, EMBEDDER)
    first = recall.search(["n"], "ships", now=NOW, top_k=1)[0].id
    apply, calls = SqliteStore.apply, list[Batch]()

    def late(store: SqliteStore, namespace: str, batch: Batch) -> Applied:
        calls.append(batch)
        if len(calls) == before:
            apply(store, "n", Batch(erase=Erasure(memories=(first,))))
        return apply(store, namespace, batch)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "apply", late)
        recall.save("n")
    assert len(calls) == 2
    assert filled.records("n", SEGMENT) == []


def test_another_model_or_a_damaged_segment_is_not_used(filled: SqliteStore) -> None:
    Recall(filled, EMBEDDER).save("n")
    assert restore(filled, "n", "other", 3, None) is None
    assert restore(filled, "n", EMBEDDER.model, 64, EMBEDDER) is None
    (part,) = [record for record in filled.records("n", SEGMENT) if not record.key.endswith("manifest")]
    for damaged in (part.value[:-400], part.value[:-1] + bytes([part.value[-1] ^ 1])):
        filled.apply("n", Batch(records=(Written(collection=SEGMENT, key=part.key, value=damaged),)))
        assert not kept(filled)
    assert len(Recall(filled, EMBEDDER).search(["n"], "soup", now=NOW, top_k=5)) == 5


@pytest.mark.parametrize(("many", "worth_it"), [(249, False), (250, True), (5000, True)])
def test_many_changes_are_kept_unasked(
    disk: SqliteStore, make: Callable[..., Memory], many: int, *, worth_it: bool
) -> None:
    disk.apply("n", Batch(memories=tuple(make(f"word{n}") for n in range(many))))
    recall = Recall(disk, EMBEDDER)
    recall.search(["n"], "word7", now=NOW, top_k=1)
    recall.close()
    assert kept(disk) is worth_it
