"""The memories most like a text by one signal: for duplicates, contradictions and plain similarity search."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from haversack.embed.codec import refined
from haversack.embed.embedder import Vectors
from haversack.recall.columns import Columns
from haversack.recall.filtering import Mask
from haversack.recall.index import Index
from haversack.recall.vector import cosines
from haversack.scoring.words import query_keys

__all__ = ["best", "nearest"]

_WIDER, _SPARE = 2, 16
"""So many times the wanted rows, and these besides, are looked at more closely."""
_AT_ONCE = 16_384
"""Rows whose vectors are spread out at a time."""
_MANY = 64
"""Times the wanted values from which a sample tells first where to look."""
_LONG = 50_000
"""Values below which that takes as long as looking at all."""


def nearest(
    index: Index, mask: Mask, text: str, vector: Vectors | None, count: int | None
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The `count` likest rows (None: all) and their likeness, the likest first.

    Likeness is the cosine, or without a vector the share of the text's telling words; what has none is left out.
    """
    likeness = None if vector is None else cosines(index.columns, vector)
    scores = mask * (_shared(index, text) if likeness is None else likeness)
    rows = best(scores, index.columns.born, len(scores) if count is None else _WIDER * count + _SPARE)
    rows = rows[scores[rows] > 0]
    found = scores[rows] if vector is None else _closer(index.columns, rows, vector)
    order = np.lexsort((index.columns.born[rows], -found))[:count]
    order = order[found[order] > 0]
    return rows[order], found[order]


def _closer(columns: Columns, rows: NDArray[np.intp], vector: Vectors) -> NDArray[np.float32]:
    """Cosines with the residues, and without rounding the question's vector: both decide near the last place.

    Unlike a matrix product they do not depend on how many rows there are.
    """
    found = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        steps = refined(columns.vectors[some], columns.residues[some])
        found[start : start + _AT_ONCE] = np.einsum("rd,d->r", steps, vector) * columns.scale[some]
    return found


def best(values: NDArray[np.float32], born: NDArray[np.int64], count: int) -> NDArray[np.intp]:
    """Places of the `count` highest values, in any order; of equal ones those that arrived first."""
    if len(values) <= count:
        return np.arange(len(values))
    if not count:
        return np.zeros(0, np.intp)
    if len(values) > max(_MANY * count, _LONG):
        near = np.flatnonzero(values >= _floor(values, count))
        if count <= len(near) < len(values):
            return near[best(values[near], born[near], count)]
    least = np.partition(values, -count)[-count]
    above, level = np.flatnonzero(values > least), np.flatnonzero(values == least)
    wanted = count - len(above)
    if wanted < len(level):
        level = level[np.argpartition(born[level], wanted - 1)[:wanted]]
    return np.concatenate([above, level])


def _floor(values: NDArray[np.float32], count: int) -> np.float32:
    """A value that, by a sample of the values, about twice `count` of them reach."""
    sample = values[:: _MANY // 4]
    wanted = 2 * count // (_MANY // 4) + 1
    return np.partition(sample, -wanted)[-wanted]


def _shared(index: Index, text: str) -> NDArray[np.float32]:
    scores = np.zeros(index.columns.rows, np.float32)
    total = 0.0
    for key in query_keys(text):
        rows, _ = index.holders(index.words, key)
        weight = math.log1p(index.present / (1 + len(rows)))
        total += weight
        scores[rows] += np.float32(weight)
    return scores / np.float32(total or 1.0)
