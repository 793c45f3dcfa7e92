"""Soft matching of words: how close the nearest word of a text comes to each word of the question."""

from __future__ import annotations

import numpy as np
import simsimd
from numpy.typing import NDArray

from haversack.embed.embedder import WordVectors
from haversack.recall.index import Index
from haversack.recall.lexical import inverse_frequency
from haversack.recall.question import Question
from haversack.scoring.words import QUESTION_WORDS

__all__ = ["soft_match"]

Floats = NDArray[np.float32]


def soft_match(index: Index, vocabulary: WordVectors, question: Question, rows: NDArray[np.int64]) -> Floats:
    """For each row the mean, over the question's telling word pieces, of the best cosine with any piece of the row.

    Pieces count by how rare they are among these rows; names of speakers are left out, for every line carries one.
    """
    pieces = _asked(index, vocabulary, question)
    if not pieces or not len(rows):
        return np.zeros(len(rows), np.float32)
    flat, lengths = index.pieces.of(rows)
    if not len(flat):
        return np.zeros(len(rows), np.float32)
    held = np.bincount(flat, minlength=len(vocabulary.norms))
    different = np.flatnonzero(held)
    place = np.zeros(len(held), np.int32)
    place[different] = np.arange(len(different), dtype=np.int32)
    similar = _cosines(vocabulary, pieces, different)
    filled = np.flatnonzero(lengths)
    starts = (np.cumsum(lengths) - lengths)[filled]
    weights = [inverse_frequency(len(rows), int(held[piece])) for piece in pieces]
    likeness = np.zeros(len(rows), np.float32)
    places = place[flat]
    for weight, row in zip(weights, similar, strict=True):
        likeness[filled] += np.float32(weight) * np.maximum.reduceat(row[places], starts)
    return likeness / np.float32(sum(weights))


def _asked(index: Index, vocabulary: WordVectors, question: Question) -> list[int]:
    names = {word for speaker in index.speakers_named(question.words) for word in speaker.casefold().split()}
    telling = [word for word in question.all_words if word not in QUESTION_WORDS and word not in names]
    return list(dict.fromkeys(piece for word in telling for piece in vocabulary.pieces(word)))


def _cosines(vocabulary: WordVectors, pieces: list[int], others: NDArray[np.intp]) -> Floats:
    """One row per piece, one column per other piece; 0 for those that point away."""
    codes, norms = vocabulary.codes, vocabulary.norms
    products = np.asarray(simsimd.cdist(codes[pieces], codes[others], metric="inner"))
    return np.maximum(0, products / norms[pieces][:, None] / norms[others]).astype(np.float32)
