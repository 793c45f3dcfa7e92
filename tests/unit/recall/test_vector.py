from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from haversack.embed.codec import quantise
from haversack.model.memory import Memory
from haversack.recall import vector
from haversack.recall.index import Index


@pytest.fixture
def index(make: Callable[..., Memory]) -> Index:
    rows = np.random.default_rng(3).standard_normal((41, 16)).astype(np.float32)
    memories = [make("x") for _ in rows]
    index = Index(16)
    index.put(memories, dict(zip([memory.id for memory in memories], quantise(rows), strict=True)))
    return index


def test_two_threads_find_what_one_finds(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = np.random.default_rng(4).standard_normal(16).astype(np.float32)
    alone = vector.cosines(index.columns, asked)
    monkeypatch.setattr(vector, "_LARGE", 0)
    both = vector.cosines(index.columns, asked)
    assert alone is not None
    assert both is not None
    assert both.tolist() == alone.tolist()


def test_a_scan_keeps_the_references_of_none(index: Index) -> None:
    asked = np.ones(16, np.float32)
    before = sys.getrefcount(None)
    for _ in range(500):
        vector.cosines(index.columns, asked)
    assert sys.getrefcount(None) > before - 100
