"""Memories that hold the very numbers, codes and days that a question names. Pure."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from haversack.recall.index import Index
from haversack.recall.lexical import find_terms
from haversack.recall.question import Question
from haversack.scoring.numbers import DIGIT

__all__ = ["figured"]

_COMMON = re.compile("(?:1[89]|20)[0-9]{2}|[0-9]{1,2}(?:st|nd|rd|th)?")
"""Years, which most memories of that year do not say, and small numbers: in three words, for the second time."""


def figured(index: Index, question: Question, rows: NDArray[np.int64]) -> NDArray[np.float32] | None:
    """Return the share of the question's figures that each row holds, by their rarity; None where none holds any."""
    own = list(question.keys.items())[: question.own]
    terms = find_terms(index, [key for key, word in own if DIGIT.search(word) and not _COMMON.fullmatch(word)])
    if not terms:
        return None
    share = np.zeros(len(rows), np.float32)
    for term in terms:
        places = np.searchsorted(term.rows, rows).clip(max=len(term.rows) - 1)
        share[term.rows[places] == rows] += np.float32(term.weight)
    return share / np.float32(sum(term.weight for term in terms)) if share.any() else None
