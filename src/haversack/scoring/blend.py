"""How signals become one score: named weights that depend on measurable traits, and a calibration to 0..1. Pure.

The numbers come from `bench/recall`, where their derivation can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BALANCED", "DEFAULT", "RETRIEVAL", "Signals", "Weights", "lexical_b"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Weights inside relevance."""

    lexical: float = 0.5
    dense: float = 0.5
    beside: float = 0.20
    """For the turn before and the turn after."""
    near: float = 0.07
    """For the turns two away."""
    session: float = 0.5
    speaker: float = 0.25
    month: float = 0.25
    day: float = 0.5
    timely: float = 0.15
    question: float = -0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much relevance, importance and recency count; they need not sum to 1."""

    relevance: float
    importance: float
    recency: float
    recency_days: float = 30.0
    linear: bool = False
    """A straight fall to 0 at `recency_days` instead of a half-life."""


DEFAULT = Weights(relevance=1.0, importance=0.1, recency=0.02, recency_days=90)
RETRIEVAL = Weights(relevance=0.5, importance=0.3, recency=0.2, linear=True)
"""The preset of the recall-and-pack pattern: relevance .5, importance .3, recency .2, 30 days."""
BALANCED = RETRIEVAL


def lexical_b(mean_length: float) -> float:
    """BM25's length normalisation: .4 for short turns, .75 for long ones, between 20 and 80 words evenly."""
    return 0.4 + 0.35 * min(1.0, max(0.0, (mean_length - 20) / 60))
