from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from haversack.lifecycle import DecayConfig
from haversack.lifecycle.promote import promotable, promotion_scores
from haversack.model.lives import lives_of
from haversack.model.memory import Memory
from haversack.model.times import micros

Make = Callable[..., Memory]
THREE = ("Ada", "Bo", "Cy")


def score(memory: Memory, now: datetime) -> float:
    return float(promotion_scores(lives_of([memory]), micros(now), DecayConfig())[0])


def is_promotable(memory: Memory, now: datetime) -> bool:
    return bool(promotable(lives_of([memory]), micros(now), DecayConfig())[0])


def test_the_score_is_the_weighted_sum_of_capped_parts(fact: Make, born: datetime) -> None:
    memory = fact(access_count=2, confidence=0.5, entities=("Ada",))
    assert score(memory, born + timedelta(hours=36)) == pytest.approx(0.1 + 0.16 + 0.1 + 0.2 / 3)


def test_each_part_is_capped(fact: Make, born: datetime) -> None:
    later = born + timedelta(days=100)
    assert score(fact(access_count=99, entities=("Ada",) * 99), later) == pytest.approx(1.0)
    assert score(fact(), born - timedelta(days=1)) == pytest.approx(0.2)


def test_promotion_waits_for_the_minimum_age(fact: Make, born: datetime) -> None:
    proven = fact(access_count=5, entities=THREE)
    assert not is_promotable(proven, born + timedelta(hours=23, minutes=59))
    assert is_promotable(proven, born + timedelta(hours=24))


def test_promotion_needs_the_threshold(fact: Make, born: datetime) -> None:
    assert not is_promotable(fact(access_count=3), born + timedelta(hours=72))
    assert is_promotable(fact(access_count=4), born + timedelta(hours=72))
