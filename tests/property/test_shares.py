"""The law of shares: each section gets the share its weight gives it, what one leaves goes to those still hungry."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from haversack.budget import Demand, allocate

WEIGHTS = st.sampled_from([0.0, 0.05, 0.1, 0.15, 0.25, 1.0, 3.0])


@st.composite
def demands(draw: st.DrawFn) -> list[Demand]:
    weights = draw(st.lists(WEIGHTS, min_size=1, max_size=7).filter(any))
    return [
        Demand(
            name=f"s{number}",
            weight=weight,
            need=draw(st.integers(0, 900)),
            minimum=draw(st.sampled_from([0.0, 0.0, 0.1])),
            maximum=draw(st.sampled_from([1.0, 1.0, 0.3])),
        )
        for number, weight in enumerate(weights)
    ]


@given(st.integers(0, 3000), demands())
def test_shares_are_honoured_and_nothing_is_left_while_anybody_is_hungry(budget: int, wanted: Sequence[Demand]) -> None:
    shares = allocate(budget, wanted)
    active = [one for one in wanted if one.weight > 0 and one.need > 0]
    assert sum(shares.values()) <= budget
    for one in wanted:
        assert shares[one.name] <= one.need * (one.weight > 0)
        assert shares[one.name] <= one.maximum * budget
    hungry = [one for one in active if shares[one.name] < min(one.need, int(one.maximum * budget))]
    if hungry:
        assert budget - sum(shares.values()) <= len(active), "tokens left beside rounding, with somebody hungry"
    for one in active:
        assert shares[one.name] >= min(one.need, int(Fraction(str(one.minimum)) * budget))


@given(st.integers(0, 3000), demands())
def test_nobody_gets_more_for_its_weight_than_one_who_is_still_hungry(budget: int, wanted: Sequence[Demand]) -> None:
    shares = allocate(budget, wanted)
    for one in wanted:
        is_hungry = one.weight > 0 and shares[one.name] + 1 < min(one.need, int(one.maximum * budget))
        for other in wanted if is_hungry else ():
            floor = int(Fraction(str(other.minimum)) * budget)
            if other.weight > 0 and shares[other.name] > floor + 1:
                assert (shares[other.name] - 1) / other.weight <= (shares[one.name] + 1) / one.weight
