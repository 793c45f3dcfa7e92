"""BM25 over one namespace's own statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from haversack.recall.columns import Flag
from haversack.recall.index import Index
from haversack.scoring.blend import lexical_b

__all__ = ["bm25"]

_K1 = 0.9


def bm25(index: Index, keys: Iterable[int]) -> NDArray[np.float32]:
    """A score for every row; 0 where no word is shared."""
    columns = index.columns
    scores = np.zeros(columns.rows, np.float32)
    b = lexical_b(index.mean_length)
    slope = np.float32(_K1 * b / max(1.0, index.mean_length))
    floor = np.float32(_K1 * (1 - b))
    for key in keys:
        rows, counts = index.words.find(key)
        if index.gone:
            kept = (columns.flags[rows] & np.uint8(Flag.PRESENT)) != 0
            rows, counts = rows[kept], counts[kept]
        if not len(rows):
            continue
        weight = math.log(1 + (index.present - len(rows) + 0.5) / (len(rows) + 0.5))
        norm = floor + slope * columns.length[rows]
        scores[rows] += np.float32(weight) * counts / (counts + norm)
    return scores
