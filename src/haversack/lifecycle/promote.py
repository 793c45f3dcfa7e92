"""Promotion from active to long-term: how much a memory has proven itself, as a weighted sum of four capped parts."""

from __future__ import annotations

from datetime import datetime, timedelta

from haversack.lifecycle.decay import DecayConfig
from haversack.model.memory import Memory
from haversack.model.times import hours_between

__all__ = ["FULL_ACCESSES", "FULL_AGE_HOURS", "FULL_CONNECTIONS", "is_promotable", "promotion_score"]

FULL_AGE_HOURS = 72
FULL_ACCESSES = 5
FULL_CONNECTIONS = 3


def promotion_score(memory: Memory, now: datetime, config: DecayConfig, connections: int = 0) -> float:
    """0..1: age by 72 hours, uses by 5, confidence as it is, connections by 3; each part is capped at 1."""
    age = min(1.0, hours_between(memory.created_at, now) / FULL_AGE_HOURS)
    access = min(1.0, memory.access_count / FULL_ACCESSES)
    linked = min(1.0, connections / FULL_CONNECTIONS)
    return (
        config.promotion_weight_age * age
        + config.promotion_weight_access * access
        + config.promotion_weight_confidence * memory.confidence
        + config.promotion_weight_connection * linked
    )


def is_promotable(memory: Memory, now: datetime, config: DecayConfig, connections: int = 0) -> bool:
    """Whether it is old enough and its score reaches the threshold."""
    old_enough = now - memory.created_at >= timedelta(hours=config.short_term_min_age_hours)
    return old_enough and promotion_score(memory, now, config, connections) >= config.promotion_threshold
