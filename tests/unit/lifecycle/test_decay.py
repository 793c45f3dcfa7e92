from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from haversack.errors import ConfigError
from haversack.lifecycle import DecayConfig
from haversack.lifecycle.decay import decayed_score, fades_at, strength
from haversack.model.memory import Kind, Memory

Make = Callable[..., Memory]


@pytest.mark.parametrize(("hours", "left"), [(24, 0.787), (72, 0.487), (168, 0.186)])
def test_one_fades_as_documented(hours: float, left: float) -> None:
    assert round(decayed_score(1.0, hours), 3) == left


def test_a_clock_that_jumped_back_does_not_strengthen() -> None:
    assert decayed_score(0.5, -10) == 0.5


def test_half_lives_are_per_kind(fact: Make, born: datetime) -> None:
    config = DecayConfig(half_life_hours={Kind.FACT: 10})
    assert strength(fact(), born + timedelta(hours=20), config) == pytest.approx(0.2)
    other = fact(kind=Kind.INSIGHT)
    assert strength(other, born + timedelta(hours=20), config) == pytest.approx(0.8 * math.exp(-0.2))


def test_strength_counts_from_the_last_use(fact: Make, born: datetime) -> None:
    used = fact(accessed_at=born + timedelta(hours=10), access_count=1)
    assert strength(used, born + timedelta(hours=10), DecayConfig()) == pytest.approx(0.9)


def test_a_thousand_uses_add_no_more_than_the_boost(fact: Make, born: datetime) -> None:
    weak = fact(importance=0.3, access_count=1000)
    assert strength(weak, born, DecayConfig()) == pytest.approx(0.5)
    assert strength(fact(importance=0.95, access_count=1000), born, DecayConfig()) == 1.0


def test_fading_is_a_moment(fact: Make, born: datetime) -> None:
    moment = fades_at(fact(), DecayConfig())
    assert moment is not None
    assert (moment - born).total_seconds() / 3600 == pytest.approx(math.log(4) / 0.01)
    assert strength(fact(), moment, DecayConfig()) == pytest.approx(0.2)


def test_the_young_do_not_fade(fact: Make, born: datetime) -> None:
    assert fades_at(fact(importance=0.1), DecayConfig()) == born + timedelta(hours=24)


@pytest.mark.parametrize(
    "config", [DecayConfig(enabled=False), DecayConfig(decay_threshold=0), DecayConfig(decay_rate=1e-12)]
)
def test_some_never_fade(fact: Make, config: DecayConfig) -> None:
    assert fades_at(fact(), config) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decay_rate": 0}, "decay_rate=0 is out of range: allowed is more than 0"),
        ({"decay_rate": float("nan")}, "decay_rate=nan"),
        ({"promotion_threshold": 1.5}, "promotion_threshold=1.5 is out of range: allowed is 0 to 1"),
        ({"half_life_hours": {Kind.FACT: -1}}, "half_life_hours.fact=-1"),
        ({"decayed_retention_days": 0.5}, "decayed_retention_days=0.5"),
        ({"decay_check_interval_hours": True}, "decay_check_interval_hours=True"),
        ({"promotion_weight_age": 0.9}, "add up to 1.7"),
        ({"promotion_weight_age": -0.1}, "promotion_weight_age=-0.1"),
        ({f"promotion_weight_{part}": 0 for part in ("age", "access", "confidence", "connection")}, "all of"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DecayConfig(**settings)  # pyright: ignore[reportArgumentType]
