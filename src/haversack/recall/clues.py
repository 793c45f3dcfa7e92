"""Clues on whether a namespace holds an answer to a question, from what recall found on the way. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from haversack.recall.index import Index
from haversack.recall.lexical import Term, inverse_frequency
from haversack.recall.question import Question
from haversack.scoring.answered import UNDECIDED, Clues, Standout, answer_odds
from haversack.scoring.blend import LEXICAL, Learned
from haversack.scoring.cues import asks_for_a_piece_of_work, mentions_time, says_little

__all__ = ["clues_of", "relevances", "stand_out"]

Floats = NDArray[np.float32]
_FEW = 5
"""In a namespace of fewer memories nothing is common or rare, and all of them cost little."""
_MOST_WORDS = 24
"""A longer message is about several things, of which some may be new."""
_LAST_LATIN = "\u024f"
_BESIDE = ".,;:!?\"'()[]\u201c\u201d\u2019"
_MANY, _TENTH = 400, 10
_BEHIND, _BEHIND_BY_WORDS = 0.8, 0.7
"""How fast the log-odds of relevance fall behind the best candidate's, measured by those of use, and where nothing but
words is compared. A floor then leaves much of what stands behind a sure answer, and little behind an unlikely one."""


def clues_of(
    index: Index,
    question: Question,
    terms: Sequence[Term],
    features: Mapping[str, Floats],
    *,
    soft: float,
    late: float,
) -> Clues | None:
    """Return the clues; None where the wording does not tell what the question is about.

    So it is in a namespace of very few memories, and with a follow-up ("and why?"), a long message, a day that some
    memory names in its own way, and words in a script other than Latin that any memory has: for those nothing was
    learned. `features` are those of the candidates, `soft` and `late` the likeness of the nearest.
    """
    own = dict(list(question.keys.items())[: question.own])
    known = {term.key: term.weight for term in terms if term.key in own}
    if index.present < _FEW or len(known) < len(terms) or says_little(own.values()) or len(own) > _MOST_WORDS:
        return None
    if known and _is_foreign(question.text):
        return None
    unknown = {word for key, word in own.items() if key not in known}
    mass = sum(known.values()) + len(unknown) * inverse_frequency(index.present, 0)
    return Clues(
        words=len(own),
        memories=index.present,
        known=sum(known.values()) / mass,
        cover=_top(features, "cover") / mass,
        rarest=max(known.values(), default=0.0),
        cosine=_top(features, "cosine"),
        soft=soft,
        late=late,
        stranger=_names_any(question.text, unknown),
        speaker=bool(index.speakers_named(question.words)),
        first_person=question.first_person,
        timed=bool(question.spans),
        work=asks_for_a_piece_of_work(question.text),
    )


def relevances(odds: Floats, clues: Clues | None, learned: Learned, echoes: NDArray[np.bool_] | None) -> Floats:
    """Return how likely each answers: the best as likely as there is an answer at all, the others less by their odds.

    `odds` are log-odds of use; `learned` says what the embedder tells. `echoes` say the question word for word, as its
    own stored turn does: the others are not measured against them.
    """
    others = odds if echoes is None or echoes.all() else odds[~echoes]
    if not len(others):
        return odds
    best = UNDECIDED if clues is None else answer_odds(clues, stand_out(others), learned)
    rate = np.float32(_BEHIND_BY_WORDS if learned is LEXICAL else _BEHIND)
    return 1 / (1 + np.exp(rate * np.maximum(0, others.max() - odds) - np.float32(best)))


def stand_out(odds: Floats) -> Standout:
    """Return how the best of these log-odds stand out; there are some."""
    count = min(len(odds), _MANY)
    best = np.sort(np.partition(odds, len(odds) - count)[len(odds) - count :])[::-1].astype(np.float64)
    use = 1 / (1 + np.exp(-best))
    return Standout(
        best=float(best[0]),
        lead=float(best[0] - best[min(_TENTH, count) - 1]),
        share=float(np.log(use[0] / use.sum())),
    )


def _top(features: Mapping[str, Floats], name: str) -> float:
    found = features.get(name)
    return 0.0 if found is None else float(found.max(initial=0.0))


def _is_foreign(text: str) -> bool:
    letters = [letter > _LAST_LATIN for letter in text if letter.isalpha()]
    return 2 * sum(letters) > len(letters)


def _names_any(text: str, unknown: AbstractSet[str]) -> bool:
    """Whether any of the words stands in the text as a name does: with a capital inside a sentence."""
    if not unknown:
        return False
    named = (
        word.strip(_BESIDE)
        for before, word in pairwise(text.split())
        if word.strip(_BESIDE)[:2].istitle() and before[-1] not in ".!?"
    )
    folded = {word.casefold() for word in named}
    return any(word in folded and not mentions_time("", {word.removesuffix("'s")}) for word in unknown)
