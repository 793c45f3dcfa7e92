"""Law: an answer that is not behind is exact, an early one names only what is there, and all is caught up.

Pages are of two changes and a question takes in four, so that few changes are a load.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haversack.lifecycle.policy import softly_deleted
from haversack.model.memory import Memory, Stage
from haversack.recall import Recall, shelf
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch, Erasure

from .test_views import memory

NOW = datetime(2025, 1, 1, tzinfo=UTC)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["load", "load", "edit", "hide", "erase", "ask", "ask", "ask whole"]), st.integers(0, 11)
    ),
    max_size=30,
)
QUERIES = ("late ferry", "soup or rain?", "Ada")


def answers(recall: Recall, *, wait: float | None = None) -> tuple[list[list[tuple[str, float]]], int]:
    view = recall.view(["n"], wait=wait)
    found = [view.search(recall.asked(query, now=NOW), top_k=99) for query in QUERIES]
    return [[(hit.id, hit.score) for hit in hits] for hits in found], view.behind


def write(store: MemoryStore, living: dict[int, Memory], verb: str, which: int) -> int:
    """One batch of changes; returns how many memories were written."""
    if verb == "load":
        new = [memory(number) for number in range(len(living), len(living) + which)]
        new = [replace(one, born=0) for one in new]
        living |= enumerate(new, len(living))
        store.apply("n", Batch(memories=tuple(new)))
        return len(new)
    found = store.memories("n", [living[which].id]) if which in living else []
    for one in found:
        if verb == "erase":
            store.apply("n", Batch(erase=Erasure(memories=(one.id,))))
            return 0
        changed = softly_deleted(one, NOW) if verb == "hide" else replace(one, content=f"{one.content} late")
        store.apply("n", Batch(memories=(changed,)))
    return len(found)


@given(steps=STEPS)
@settings(deadline=None)
def test_early_answers_keep_the_laws_and_whole_ones_are_exact(steps: list[tuple[str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelf, "_PAGE", 2)
        patch.setattr(shelf, "_OWN", 4)
        store, living = MemoryStore(), dict[int, Memory]()
        recall = Recall(store)
        for verb, which in (*steps, ("ask", 0), ("ask whole", 0)):
            if not verb.startswith("ask"):
                recall.written("n", write(store, living, verb, which))
                continue
            found, behind = answers(recall, wait=0 if verb == "ask" else None)
            exact, _ = answers(fresh := Recall(store))
            fresh.close()
            assert behind == 0 or verb == "ask"
            if behind:
                names = {name for hits in found for name, _ in hits}
                there = store.memories("n", sorted(names))
                assert names == {one.id for one in there if one.stage is not Stage.DELETED}
            else:
                assert found == exact
        recall.close()
