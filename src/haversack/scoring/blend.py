"""How signals become one score: weights that depend on measurable traits, and a calibration to 0..1. Pure.

The numbers are in `learned.py`; `bench/recall/train.py` derives them.
"""

from __future__ import annotations

from dataclasses import dataclass

from haversack.errors import InputError
from haversack.scoring.learned import LATE, LEXICAL, SENTENCE, STATIC, Learned

__all__ = [
    "DEFAULT",
    "LATE",
    "LEXICAL",
    "RETRIEVAL",
    "SENTENCE",
    "SIMILARITY",
    "STATIC",
    "Learned",
    "Traits",
    "Weights",
    "length_trait",
    "lexical_b",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What can be measured of a namespace before any question, and changes what its signals are worth."""

    length: float
    """0 for short memories, 1 for long ones: see `length_trait`."""
    roles: float
    """The share of memories that a `user` or an `assistant` said: 0 in chats between people, 1 in assistant logs."""


_MOST, _MOST_DAYS = 100, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much relevance, importance and recency count: from 0 to 100, not all 0; they need not sum to 1."""

    relevance: float
    importance: float
    recency: float
    recency_days: float = 30.0
    linear: bool = False
    """A straight fall to 0 at `recency_days` instead of a half-life."""
    prior: bool = False
    """Importance and recency shift the odds of relevance, instead of being averaged with it."""
    likeness: bool = False
    """The likeness with the question alone, as a plain vector store ranks; the other numbers say nothing then."""

    def __post_init__(self) -> None:
        for name in ("relevance", "importance", "recency", "recency_days"):
            value = getattr(self, name)
            most = _MOST_DAYS if name == "recency_days" else _MOST
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
                raise InputError(f"weights: {name}={value!r} must be a number from 0 to {most}")
        if self.recency_days == 0:
            raise InputError("weights: recency_days=0 must be more than 0")
        if self.relevance + self.importance + self.recency == 0:
            raise InputError("weights: relevance, importance and recency are all 0; one must be more")

    @property
    def shares(self) -> dict[str, float]:
        """The three as shares of their sum."""
        total = self.relevance + self.importance + self.recency
        return {name: getattr(self, name) / total for name in ("relevance", "importance", "recency")}


DEFAULT = Weights(relevance=1.0, importance=1.0, recency=0.1, recency_days=90.0, prior=True)
RETRIEVAL = Weights(relevance=0.5, importance=0.3, recency=0.2, linear=True)
"""The preset of the recall-and-pack pattern: relevance .5, importance .3, recency .2, 30 days."""
SIMILARITY = Weights(relevance=1.0, importance=0.0, recency=0.0, likeness=True)
"""Nearest by meaning: the cosine of the vectors; without an embedder the share of the question's words."""


def length_trait(mean_size: float) -> float:
    """0 where memories average 30 tokens, as in chats between people, 1 from 150 on, as in assistant logs."""
    return min(1.0, max(0.0, (mean_size - 30) / 120))


def lexical_b(mean_length: float) -> float:
    """BM25's length normalisation: .4 for short turns, .75 for long ones, between 20 and 80 words evenly."""
    return 0.4 + 0.35 * min(1.0, max(0.0, (mean_length - 20) / 60))
