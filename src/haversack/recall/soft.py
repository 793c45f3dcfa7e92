"""Soft matching of words: how close the nearest word of a text comes to each word of the question."""

from __future__ import annotations

import numpy as np
import simsimd
from numpy.typing import NDArray

from haversack.embed.embedder import WordVectors
from haversack.recall.index import Index
from haversack.recall.lexical import inverse_frequency
from haversack.recall.question import Question
from haversack.scoring.words import QUESTION_WORDS, is_day

__all__ = ["soft_match"]

Floats = NDArray[np.float32]
_FAR = 0.25
"""Cosines up to this count as none."""


def soft_match(index: Index, vocabulary: WordVectors, question: Question, rows: NDArray[np.int64]) -> Floats:
    """For each row the mean, over the question's telling word pieces, of the best cosine with any piece of the row.

    Pieces count by how rare they are among these rows; names of speakers are left out, for every line carries one.
    Weak cosines count as none: strangers have them too, and they are most of the work.
    """
    likeness = np.zeros(len(rows), np.float32)
    pieces = _asked(index, vocabulary, question)
    flat, ends = index.pieces.of(rows)
    if not pieces or not len(flat):
        return likeness
    held = np.bincount(flat, minlength=len(vocabulary.norms))
    weights = [np.float32(inverse_frequency(len(rows), int(held[piece]))) for piece in pieces]
    different = np.flatnonzero(held.astype(np.bool_))
    similar = _cosines(vocabulary, pieces, different)
    near = np.zeros(len(held), np.bool_)
    near[different] = similar.any(axis=0)
    told = np.flatnonzero(near.take(flat))
    owners = np.repeat(np.arange(len(rows)), np.diff(np.searchsorted(told, ends), prepend=0))
    place = np.zeros(len(held), np.int32)
    place[different] = np.arange(len(different), dtype=np.int32)
    places = place.take(flat.take(told))
    for weight, close in zip(weights, similar, strict=True):
        best = np.zeros(len(rows), np.float32)
        np.maximum.at(best, owners, close.take(places))
        likeness += weight * best
    return likeness / np.float32(sum(weights))


def _asked(index: Index, vocabulary: WordVectors, question: Question) -> list[int]:
    names = index.speaker_words(question.words)
    telling = [word for word in question.all_words if word not in QUESTION_WORDS and word not in names]
    telling = [word for word in telling if not is_day(word)]
    return list(dict.fromkeys(piece for word in telling for piece in vocabulary.pieces(word)))


def _cosines(vocabulary: WordVectors, pieces: list[int], others: NDArray[np.intp]) -> Floats:
    """One row per piece, one column per other piece."""
    codes, norms = vocabulary.codes, vocabulary.norms
    products: Floats = np.asarray(simsimd.cdist(codes[pieces], codes[others], metric="inner", out_dtype="f32"))
    cosines = products / norms[pieces][:, None] / norms[others]
    return cosines * (cosines > _FAR)
