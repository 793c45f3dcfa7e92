"""A stage that alone was written reaches an index in brief, and changes what it says as reading it all again would."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from haversack.model.memory import Stage
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Restage
from haversack.testing.store_contract import sample_memory

NOW = datetime(2026, 6, 1, tzinfo=UTC)
IDS = [sample_memory(number).id for number in range(4)]


def scores(recall: Recall) -> dict[str, float]:
    return {hit.memory.id: hit.score for hit in recall.search(["n"], "statement", now=NOW, top_k=10)}


def test_new_stages_are_ranked_as_a_new_index_ranks_them() -> None:
    store = MemoryStore()
    store.apply("n", Batch(memories=tuple(replace(sample_memory(number), importance=0.9) for number in range(4))))
    recall = Recall(store)
    before = scores(recall)
    assert before.keys() == set(IDS)
    store.apply("n", Batch(stages=(Restage(IDS[0], 1, Stage.DECAYED), Restage(IDS[1], 2, Stage.DELETED))))
    after = scores(recall)
    assert after.keys() == {IDS[0], IDS[2], IDS[3]}
    assert after[IDS[0]] < before[IDS[0]]
    assert after == scores(Recall(store))
    assert recall.search(["n"], "statement", now=NOW, top_k=10)[-1].memory.stage is Stage.DECAYED
    store.apply("n", Batch(stages=(Restage(IDS[0], 5, Stage.ACTIVE), Restage(IDS[1], 6, Stage.ACTIVE))))
    assert scores(recall) == scores(Recall(store)) == before
