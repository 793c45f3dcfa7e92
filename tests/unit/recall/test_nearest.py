"""Similarity search against numpy on the stored vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from haversack.embed.codec import quantise, refined
from haversack.model.memory import Memory
from haversack.recall.index import Index
from haversack.recall.nearest import best, nearest


def test_the_nearest_are_those_of_the_vectors_to_a_sixteenth_of_a_step(make: Callable[..., Memory]) -> None:
    chance = np.random.default_rng(7)
    vectors = chance.standard_normal((600, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    memories = [make("x") for _ in vectors]
    stored = quantise(vectors)
    index = Index(16)
    index.put(memories, {memory.id: vector for memory, vector in zip(memories, stored, strict=True)})
    kept = np.stack([scale * refined(codes[None], residues[None])[0] for scale, codes, residues, _ in stored])
    np.testing.assert_allclose(kept, vectors, atol=max(each.scale for each in stored) / 16)
    mask = np.arange(600) % 3 > 0
    for query in vectors[:20] + np.float32(0.3) * chance.standard_normal((20, 16)).astype(np.float32):
        exact = np.where(mask, kept @ query, -1)
        rows, likeness = nearest(index, mask, "x", query, 12)
        assert rows.tolist() == np.argsort(-exact, kind="stable")[:12].tolist()
        np.testing.assert_allclose(likeness, exact[rows], rtol=1e-5)


@pytest.mark.parametrize("pattern", ["random", "few values", "periodic", "mostly zero", "rising"])
def test_the_best_of_many_are_those_that_sorting_finds(pattern: str) -> None:
    count, chance = 120_000, np.random.default_rng(5)
    values = {
        "random": chance.random(count),
        "few values": chance.integers(0, 4, count) / 4,
        "periodic": np.tile(np.arange(16) / 16, count // 16),  # a sample of every sixteenth sees one value
        "mostly zero": np.where(np.arange(count) % 9_000 == 1, 0.5, 0.0),
        "rising": np.arange(count) / count,
    }[pattern].astype(np.float32)
    born = chance.permutation(count).astype(np.int64)
    for wanted in (1, 100, 700):
        expected = np.lexsort((born, -values))[:wanted]
        assert sorted(best(values, born, wanted).tolist()) == sorted(expected.tolist())
