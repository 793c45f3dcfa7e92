"""Strength of a memory as a pure function of stored base values, timestamps and `now`.

Law: time is an argument. Nothing computed here is stored back, so any cadence of maintenance sees the same strengths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from haversack.errors import ConfigError
from haversack.lifecycle.ranges import check_range, check_weights, check_whole
from haversack.model.lives import NEVER, Lives, lives_of
from haversack.model.memory import Kind, Memory
from haversack.model.times import from_micros, micros

__all__ = [
    "DecayConfig",
    "decayed_score",
    "fades_at",
    "fading",
    "last_used",
    "strength",
    "strengths",
]

_NO_HALF_LIVES: Mapping[Kind, float] = MappingProxyType({})
_WEIGHT_TOLERANCE = 0.01
_HOUR = 3_600_000_000
"""In microseconds."""
_LATEST = micros(datetime.max.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayConfig:
    """How memories fade and rise; the defaults are those that the attention layout's users know."""

    enabled: bool = True
    decay_rate: float = 0.01
    """Per hour since the last use; half is left after 69.3 hours."""
    access_boost: float = 0.2
    """What uses can add to the base in all: the first adds half of it, each further one half of what is left."""
    promotion_threshold: float = 0.7
    decay_threshold: float = 0.2
    """Strength below which a memory counts as decayed."""
    short_term_min_age_hours: int = 24
    """Younger memories are neither promoted nor decayed."""
    decay_check_interval_hours: int = 24
    """How often background maintenance looks; it has no effect on any result."""
    decayed_retention_days: int = 30
    """How long a memory stays decayed before it is softly deleted."""
    promotion_weight_age: float = 0.2
    promotion_weight_access: float = 0.4
    promotion_weight_confidence: float = 0.2
    promotion_weight_connection: float = 0.2
    half_life_hours: Mapping[Kind, float] = field(default_factory=lambda: _NO_HALF_LIVES)
    """Kinds that fade at their own pace instead of by `decay_rate`."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        check_range("decay_rate", self.decay_rate, 0, open_low=True)
        for name in ("access_boost", "promotion_threshold", "decay_threshold"):
            check_range(name, getattr(self, name), 0, 1)
        check_whole("short_term_min_age_hours", self.short_term_min_age_hours, 0)
        check_whole("decay_check_interval_hours", self.decay_check_interval_hours, 1)
        check_whole("decayed_retention_days", self.decayed_retention_days, 0)
        for kind, hours in self.half_life_hours.items():
            check_range(f"half_life_hours.{kind}", hours, 0, open_low=True)
        self._check_promotion_weights()

    def _check_promotion_weights(self) -> None:
        weights = {
            f"promotion_weight_{part}": float(getattr(self, f"promotion_weight_{part}"))
            for part in ("age", "access", "confidence", "connection")
        }
        check_weights("promotion weights", weights)
        total = sum(weights.values())
        if abs(total - 1) > _WEIGHT_TOLERANCE:
            raise ConfigError(f"promotion weights {', '.join(weights)} add up to {total:g}; they must add up to 1")

    def rate(self, kind: Kind) -> float:
        """Decay per hour for memories of this kind; 0 when decay is off."""
        if not self.enabled:
            return 0.0
        half_life = self.half_life_hours.get(kind)
        return self.decay_rate if half_life is None else math.log(2) / half_life


def decayed_score(score: float, hours: float, rate: float = 0.01) -> float:
    """`score * exp(-rate * hours)`: 24, 72 and 168 hours leave .787, .487 and .186 of 1; negative hours count as 0."""
    return score * math.exp(-rate * max(0.0, hours))


def last_used(memory: Memory) -> datetime:
    """The last use, or the creation of a memory that was never used."""
    return memory.created_at if memory.accessed_at is None else max(memory.accessed_at, memory.created_at)


def strength(memory: Memory, now: datetime, config: DecayConfig) -> float:
    """How alive the memory is at `now`, 0..1: its importance lifted by its uses, faded since the last one."""
    return float(strengths(lives_of([memory]), micros(now), config)[0])


def fades_at(memory: Memory, config: DecayConfig) -> datetime | None:
    """The moment from which the memory counts as decayed; None when it never will."""
    moment = int(fading(lives_of([memory]), config)[0])
    return None if moment > _LATEST else from_micros(moment)


def strengths(lives: Lives, now: int, config: DecayConfig) -> NDArray[np.float64]:
    """`strength` of each, at `now` in epoch microseconds."""
    hours = np.maximum(0, now - lives.used_at) / _HOUR
    with np.errstate(under="ignore", over="ignore"):
        return _lifted(lives, config) * np.exp(-_rates(config)[lives.kind] * hours)


def fading(lives: Lives, config: DecayConfig) -> NDArray[np.int64]:
    """From when on each counts as decayed, in epoch microseconds; NEVER where it does not fade."""
    base, rate = _lifted(lives, config), _rates(config)[lives.kind]
    if config.decay_threshold == 0:
        return np.full(len(lives), NEVER)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        lasts = np.log(np.maximum(1.0, base / config.decay_threshold)) / rate * _HOUR
    lasts = np.where(rate == 0, np.inf, lasts)
    faded = lives.used_at + np.rint(np.minimum(lasts, _LATEST)).astype(np.int64)
    young_until = lives.created_at + min(config.short_term_min_age_hours * _HOUR, _LATEST)
    return np.where(faded > _LATEST, NEVER, np.maximum(faded, young_until))


def _rates(config: DecayConfig) -> NDArray[np.float64]:
    return np.array([config.rate(kind) for kind in Kind])


def _lifted(lives: Lives, config: DecayConfig) -> NDArray[np.float64]:
    share = 1 - 0.5 ** np.minimum(lives.uses, 60)
    return np.minimum(1.0, lives.importance + config.access_boost * share)
