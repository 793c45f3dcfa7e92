"""How fresh a memory is, as the weights of recall say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from haversack.model.memory import Memory
from haversack.recall import Recall
from haversack.scoring.blend import DEFAULT, RETRIEVAL, Weights
from haversack.store.memory import MemoryStore
from haversack.store.port import Batch

from .conftest import NOW


def recency(
    store: MemoryStore, make: Callable[..., Memory], weights: Weights, hours: Sequence[int], query: str = "ferry"
) -> list[float]:
    """The signal of memories of these ages, the youngest first."""
    ages = [NOW - timedelta(hours=age) for age in hours]
    rows = [make(f"the ferry of dock {n}", event_time=at) for n, at in enumerate(ages)]
    store.apply("n", Batch(memories=tuple(rows)))
    found = {
        hit.id: hit.parts["recency"] for hit in Recall(store).search(["n"], query, now=NOW, top_k=9, weights=weights)
    }
    return [found[row.id] for row in rows]


def test_it_halves_every_ninety_days(store: MemoryStore, make: Callable[..., Memory]) -> None:
    assert recency(store, make, DEFAULT, (0, 90 * 24, 180 * 24)) == pytest.approx([1, 0.5, 0.25])


@pytest.mark.parametrize("query", ["ferry", "where is the ferry now", "latest ferry"])
def test_in_the_average_it_falls_evenly_to_nothing_at_thirty_days_whatever_is_asked(
    store: MemoryStore, make: Callable[..., Memory], query: str
) -> None:
    assert recency(store, make, RETRIEVAL, (0, 360, 720, 9999), query) == pytest.approx([1, 0.5, 0, 0])
