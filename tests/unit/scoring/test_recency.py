from __future__ import annotations

import math

import pytest

from haversack.scoring.blend import length_trait, lexical_b
from haversack.scoring.recency import first_seed_relevance, half_life, linear


def test_half_life() -> None:
    assert [half_life(hours, 1) for hours in (0, 24, 48)] == [1, 0.5, 0.25]


def test_linear_falls_to_nothing_at_thirty_days() -> None:
    assert [linear(hours) for hours in (0, 360, 720, 9999)] == [1, 0.5, 0, 0]


def test_first_seed_relevance() -> None:
    assert first_seed_relevance(0.8, 100, 0) == pytest.approx(0.8 * math.exp(-0.5))
    assert first_seed_relevance(0.5, 0, 9) == pytest.approx(0.5 * (1 + 0.1 * math.log(10)))
    assert first_seed_relevance(1.0, 0, 9) == 1.0


def test_traits_are_bounded() -> None:
    assert [length_trait(size) for size in (0, 30, 90, 150, 999)] == [0, 0, 0.5, 1, 1]
    assert [lexical_b(words) for words in (0, 20, 50, 80, 999)] == pytest.approx([0.4, 0.4, 0.575, 0.75, 0.75])
