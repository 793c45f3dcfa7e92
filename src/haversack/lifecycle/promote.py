"""Promotion from active to long-term: how much a memory has proven itself, as a weighted sum of four capped parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from haversack.lifecycle.decay import DecayConfig
from haversack.model.lives import Lives

__all__ = ["FULL_ACCESSES", "FULL_AGE_HOURS", "FULL_CONNECTIONS", "promotable", "promotion_scores"]

FULL_AGE_HOURS = 72
FULL_ACCESSES = 5
FULL_CONNECTIONS = 3
_HOUR = 3_600_000_000
"""In microseconds."""


def promotion_scores(lives: Lives, now: int, config: DecayConfig) -> NDArray[np.float64]:
    """0..1 each, at `now` in epoch microseconds.

    Age by 72 hours, uses by 5, confidence as it is, named entities by 3; each part is capped at 1.
    """
    age = np.clip((now - lives.created_at) / (FULL_AGE_HOURS * _HOUR), 0, 1)
    access = np.minimum(1.0, lives.uses / FULL_ACCESSES)
    linked = np.minimum(1.0, lives.links / FULL_CONNECTIONS)
    return (
        config.promotion_weight_age * age
        + config.promotion_weight_access * access
        + config.promotion_weight_confidence * lives.confidence
        + config.promotion_weight_connection * linked
    )


def promotable(lives: Lives, now: int, config: DecayConfig) -> NDArray[np.bool_]:
    """Which are old enough and have a score that reaches the threshold."""
    old_enough = now - lives.created_at >= float(config.short_term_min_age_hours) * _HOUR
    return old_enough & (promotion_scores(lives, now, config) >= config.promotion_threshold)
