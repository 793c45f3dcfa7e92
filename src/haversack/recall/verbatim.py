"""Memories that say the question word for word: they answer first, whatever else speaks for others. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from haversack.model.text import fingerprint_form
from haversack.recall.index import Index
from haversack.recall.lexical import Term, find_terms
from haversack.recall.question import Question
from haversack.recall.rows import MemoriesOf

__all__ = ["verbatim"]

_BESIDE = 24
"""Words that a row may have beside its text: the speaker's, and entities that the text does not name."""
_READ = 64
"""Rows whose texts are looked at; of more that have the words, the first to arrive."""


def verbatim(
    index: Index, question: Question, terms: Sequence[Term], rows: NDArray[np.int64], memories_of: MemoriesOf
) -> NDArray[np.bool_] | None:
    """Which of these rows have the question's own text, case and white space aside; None when none has."""
    own = [key for key, word in list(question.keys.items())[: question.own] if _is_folded(word)]
    if len(question.keys) > len(own):  # days in other notations, and units in their own letters
        terms = find_terms(index, own)
    if not terms or len(terms) < len(own):
        return None  # a word that no memory holds
    held, *others = (term.rows for term in sorted(terms, key=lambda term: len(term.rows)))
    for more in others:
        held = held[more.take(np.searchsorted(more, held), mode="clip") == held]
    beside = index.columns.length.take(held) - sum(map(_is_folded, question.all_words))
    held = held[(beside >= 0) & (beside <= _BESIDE)][:_READ]
    if not len(held):
        return None
    wanted = fingerprint_form(question.text)
    same = [
        row
        for row, memory in zip(held.tolist(), memories_of(held.tolist()), strict=True)
        if memory is not None and fingerprint_form(memory.content) == wanted
    ]
    found = np.isin(rows, same)
    return found if found.any() else None


def _is_folded(word: str) -> bool:
    """Whether the letters' case is out of play, as it is not in a unit."""
    return word == word.casefold()
