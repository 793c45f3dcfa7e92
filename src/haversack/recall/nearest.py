"""The memories most like a text, for telling duplicates and contradictions: one signal, no ranking, no question."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import Vectors
from haversack.recall.filtering import Mask
from haversack.recall.index import Index
from haversack.recall.vector import cosines
from haversack.scoring.words import query_keys

__all__ = ["nearest"]


def nearest(index: Index, mask: Mask, text: str, vector: Vectors | None, count: int) -> list[tuple[str, float]]:
    """Ids with their likeness, the likest first: cosines, or without a vector the share of the text's telling words."""
    likeness = None if vector is None else cosines(index.columns, vector)
    scores = np.where(mask, _shared(index, text) if likeness is None else likeness, 0)
    rows = np.flatnonzero(scores > 0)
    if len(rows) > count:
        rows = rows[np.argpartition(scores[rows], len(rows) - count)[-count:]]
    best = rows[np.lexsort((index.columns.born[rows], -scores[rows]))]
    return [(index.ids[row], float(scores[row])) for row in best.tolist()]


def _shared(index: Index, text: str) -> NDArray[np.float32]:
    scores = np.zeros(index.columns.rows, np.float32)
    total = 0.0
    for key in query_keys(text):
        rows, _ = index.words.find(key)
        weight = math.log1p(index.columns.rows / (1 + len(rows)))
        total += weight
        scores[rows] += np.float32(weight)
    return scores / np.float32(total or 1.0)
