"""BM25 over one namespace's own statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from haversack.recall.index import Index
from haversack.scoring.blend import lexical_b

__all__ = ["Term", "bm25", "find_terms", "inverse_frequency"]

_K1 = 0.9


@dataclass(frozen=True, slots=True)
class Term:
    """One searched word: its key, its inverse document frequency, the rows that hold it and how often each does."""

    key: int
    weight: float
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]


def find_terms(index: Index, keys: Iterable[int]) -> list[Term]:
    """The postings of those keys that any memory holds."""
    terms = list[Term]()
    for key in keys:
        rows, counts = index.holders(index.words, key)
        if len(rows):
            terms.append(Term(key, inverse_frequency(index.present, len(rows)), rows, counts))
    return terms


def inverse_frequency(documents: int, holders: int) -> float:
    """BM25's weight of a word that `holders` of `documents` hold."""
    return math.log(1 + (documents - holders + 0.5) / (holders + 0.5))


def bm25(index: Index, terms: Iterable[Term]) -> NDArray[np.float32]:
    """A score for every row; 0 where no word is shared."""
    lengths = index.columns.length
    scores = np.zeros(len(lengths), np.float32)
    b = lexical_b(index.mean_length)
    slope, floor = np.float32(_K1 * b / max(1.0, index.mean_length)), np.float32(_K1 * (1 - b))
    for term in terms:
        counts = term.counts.astype(np.float32)
        norm = lengths.take(term.rows)
        norm *= slope
        norm += floor
        norm += counts
        counts *= np.float32(term.weight)
        counts /= norm
        np.add.at(scores, term.rows, counts)  # three times as fast as `scores[rows] += …`
    return scores
