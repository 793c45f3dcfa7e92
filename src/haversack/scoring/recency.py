"""Recency curves: how much of a memory's freshness is left after some hours. Pure functions, 0..1."""

from __future__ import annotations

import math

__all__ = ["first_seed_relevance", "half_life", "linear"]


def half_life(hours: float, days: float) -> float:
    """Halves every `days` days."""
    return 0.5 ** (hours / (24 * days))


def linear(hours: float, days: float = 30.0) -> float:
    """Falls evenly to nothing at `days` days, as in the retrieval pattern with weights .5, .3 and .2."""
    return max(0.0, 1.0 - hours / (24 * days))


def first_seed_relevance(similarity: float, hours: float, hits: int) -> float:
    """Inclusion by the attention layout: similarity · exp(-0.005 h) · (1 + 0.1 ln(1 + hits)), at most 1."""
    return min(1.0, similarity * math.exp(-0.005 * hours) * (1 + 0.1 * math.log1p(hits)))
