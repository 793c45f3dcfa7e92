from __future__ import annotations

import math

import pytest

from haversack.scoring.blend import LATE, LEXICAL, SENTENCE, STATIC, Learned, Traits
from haversack.scoring.signals import GROUPS, Formula, ranges, told, weightiest

TRAITS = [Traits(length=length, roles=roles) for length in (0.0, 0.4, 1.0) for roles in (0.0, 0.5, 1.0)]
SIZES = [1.0, *(60 * 1.25**step for step in range(-18, 44)), 2.0**20]


def added(learned: Learned, traits: Traits, features: dict[str, float]) -> float:
    slopes = {name: a + b * traits.length + c * traits.roles for name, (a, b, c) in learned.weights.items()}
    return learned.scale * sum(slopes[name] * value for name, value in features.items())


@pytest.mark.parametrize("learned", [LEXICAL, STATIC, SENTENCE])
@pytest.mark.parametrize("traits", TRAITS)
def test_no_length_adds_less_than_the_least_or_more_than_the_most(learned: Learned, traits: Traits) -> None:
    least, spread = ranges(learned, traits)["length"]
    reached = [
        added(learned, traits, {"brief": brief, "size": math.log1p(s) / 5, "over_60": max(0, math.log(s / 60))})
        for s in SIZES
        for brief in (0.0, 1.0)
    ]
    assert least - 1e-6 <= min(reached) <= least + 0.02
    assert least + spread - 0.02 <= max(reached) <= least + spread + 1e-6


@pytest.mark.parametrize("traits", TRAITS)
def test_the_ends_of_a_group_are_those_of_its_features(traits: Traits) -> None:
    low = high = 0.0
    for name, most in (("before", 1.0), ("after", 1.0), ("two_away", 2.0), ("answers", 1.0)):
        end = added(STATIC, traits, {name: most})
        low, high = low + min(end, 0), high + max(end, 0)
    assert ranges(STATIC, traits)["neighbours"] == pytest.approx((low, high - low))


def test_every_feature_is_told_in_a_group() -> None:
    assert set(GROUPS) == set(LATE.weights)
    for learned in (STATIC, LEXICAL, SENTENCE):
        assert set(learned.weights) == set(GROUPS) - {"late", "late_window"}


def test_a_formula_makes_the_score_and_says_how() -> None:
    formula = Formula(weights={"words": 2.0, "date": 4.0, "recency": 0.1}, start=-3.0, logistic=True, share=0.5)
    parts = {"words": 0.5, "date": 0.25, "recency": 0.0}
    assert formula.score(parts) == pytest.approx(0.5 / (1 + math.e))
    assert weightiest(parts, formula) == ["words", "date"]
    assert told(parts, formula) == [
        "             signal  weight    adds",
        "words         0.500   2.000  +1.000",
        "date          0.250   4.000  +1.000",
        "start                        -3.000",
    ]


def test_what_makes_up_a_part_is_told_behind_it() -> None:
    formula = Formula(weights={"relevance": 0.5})
    assert formula.score({"words": 0.3, "relevance": 0.8}) == pytest.approx(0.4)
    assert told({"words": 0.3, "relevance": 0.8}, formula)[-1] == "words         0.300"
