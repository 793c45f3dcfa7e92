"""How likely a namespace holds an answer to a question, from clues on the two. Pure.

The numbers are in `answers.py`; `bench/recall/answered.py` derives them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from haversack.scoring.answers import ANSWERED_LATE, ANSWERED_LEXICAL, ANSWERED_SENTENCE, ANSWERED_STATIC
from haversack.scoring.learned import LATE, SENTENCE, STATIC, Learned

__all__ = ["UNDECIDED", "Clues", "Standout", "answer_odds", "told"]

UNDECIDED = 0.0
"""Log-odds for a question whose wording does not tell what it is about."""
_SUREST = 3.0
"""The most: also where there surely is an answer, the best candidate need not be it."""
_TABLES = {STATIC: ANSWERED_STATIC, SENTENCE: ANSWERED_SENTENCE, LATE: ANSWERED_LATE}
_MANY = 15
"""Words of a question beyond which more of them say nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """What can be told of a question and a namespace before anything is ranked."""

    words: int
    """Different words that it is about."""
    memories: int
    """How many the namespace holds, 1 or more."""
    known: float
    """The share of the question's words, by how rare they are, that any memory has."""
    cover: float
    """The same share for the one memory that has most of them."""
    rarest: float
    """The inverse document frequency of the rarest word that any memory has."""
    cosine: float = 0.0
    """Of the nearest memory."""
    soft: float = 0.0
    """Likeness by words of the nearest memory."""
    late: float = 0.0
    """The same by late interaction with its neighbours."""
    stranger: bool = False
    """Whether it names somebody or something that no memory names."""
    speaker: bool = False
    """Whether it names one who speaks here."""
    first_person: bool = False
    timed: bool = False
    """Whether it names a time."""
    work: bool = False
    """Whether it asks for something to be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standout:
    """How the best candidates stand out, in log-odds of use."""

    best: float
    lead: float
    """Of the best over the tenth."""
    share: float
    """The logarithm of the best one's share of the use to be expected."""


def told(clues: Clues, standout: Standout) -> dict[str, float]:
    """Return what the log-odds are made of, by name."""
    words, memories = math.log1p(min(clues.words, _MANY)), math.log(clues.memories)
    return {
        "known_words": clues.known * words,
        "known_memories": clues.known * memories,
        "cover_words": clues.cover * words,
        "cover_cosine": clues.cover * clues.cosine,
        "cosine": clues.cosine**2,
        "soft": clues.soft,
        "late": clues.late,
        "rarest": clues.rarest,
        "stranger": float(clues.stranger),
        "speaker": float(clues.speaker),
        "first_person": float(clues.first_person),
        "timed": clues.known * clues.timed,
        "work": float(clues.work),
        "words": words,
        "few": clues.memories**-0.5,
        "best": standout.best,
        "lead": standout.lead,
        "share": standout.share,
    }


def answer_odds(clues: Clues, standout: Standout, learned: Learned) -> float:
    """Return the log-odds that the question has an answer here; `learned` says what the embedder tells."""
    table, parts = _TABLES.get(learned, ANSWERED_LEXICAL), told(clues, standout)
    return min(_SUREST, math.fsum(weight * parts.get(name, 1.0) for name, weight in table.items()))
