from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from haversack.lifecycle import DecayConfig
from haversack.lifecycle.promote import is_promotable, promotion_score
from haversack.model.memory import Memory

Make = Callable[..., Memory]


def test_the_score_is_the_weighted_sum_of_capped_parts(fact: Make, born: datetime) -> None:
    now = born + timedelta(hours=36)
    memory = fact(access_count=2, confidence=0.5)
    assert promotion_score(memory, now, DecayConfig(), 1) == pytest.approx(0.1 + 0.16 + 0.1 + 0.2 / 3)


def test_each_part_is_capped(fact: Make, born: datetime) -> None:
    later = born + timedelta(days=100)
    assert promotion_score(fact(access_count=99), later, DecayConfig(), 99) == pytest.approx(1.0)


def test_promotion_waits_for_the_minimum_age(fact: Make, born: datetime) -> None:
    proven = fact(access_count=5)
    assert not is_promotable(proven, born + timedelta(hours=23, minutes=59), DecayConfig(), 3)
    assert is_promotable(proven, born + timedelta(hours=24), DecayConfig(), 3)


def test_promotion_needs_the_threshold(fact: Make, born: datetime) -> None:
    assert not is_promotable(fact(access_count=3), born + timedelta(hours=72), DecayConfig(), 0)
    assert is_promotable(fact(access_count=4), born + timedelta(hours=72), DecayConfig(), 0)
