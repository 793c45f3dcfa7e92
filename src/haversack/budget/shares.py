"""Sharing tokens among sections by weight: water-filling between a minimum and a maximum, until nobody is hungry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from haversack.budget.amount import check_ratio, check_tokens
from haversack.errors import InputError
from haversack.lazy import lazy

if TYPE_CHECKING:
    import fractions
else:
    fractions = lazy("fractions")

__all__ = ["Demand", "allocate", "check_weights"]

_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One section that wants tokens."""

    name: str
    weight: float
    """Relative to the other sections; 0 switches it off."""
    need: int
    """Tokens of all that it has to show."""
    minimum: float = 0.0
    """Share of the budget that it gets first, as far as it needs it."""
    maximum: float = 1.0
    """Share of the budget that it never exceeds."""


def check_weights(weights: Iterable[tuple[str, float]]) -> None:
    """Raise InputError when a name comes twice, a weight is negative or not finite, or all weights are 0."""
    seen: dict[str, float] = {}
    for name, weight in weights:
        if name in seen:
            msg = f"section {name!r} is named twice"
            raise InputError(msg)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"weight of section {name!r} is {weight!r}; a finite number from 0 is needed"
            raise InputError(msg)
        seen[name] = weight
    if seen and not any(seen.values()):
        msg = f"all weights are 0: {', '.join(seen)}; give at least one section a weight above 0"
        raise InputError(msg)


def allocate(budget: int, demands: Sequence[Demand]) -> dict[str, int]:
    """Tokens by section: never more than it needs or may have, in all never more than the budget.

    Shares are rounded down, so that none of them falls when the budget grows; the few tokens that this leaves are for
    the fill pass. The result does not depend on the order of `demands`.
    """
    check_tokens(budget)
    check_weights((demand.name, demand.weight) for demand in demands)
    for demand in demands:
        check_ratio(demand.minimum, f"minimum of section {demand.name!r}", zero=True)
        check_ratio(demand.maximum, f"maximum of section {demand.name!r}")
    if sum(demand.minimum for demand in demands if demand.weight > 0) > 1 + _SLACK:
        msg = "the minimum shares of the sections add up to more than 1"
        raise InputError(msg)
    return {name: math.floor(share) for name, share in _fill(fractions.Fraction(budget), demands).items()}


def _fill(budget: fractions.Fraction, demands: Sequence[Demand]) -> dict[str, fractions.Fraction]:
    active = [demand for demand in demands if demand.weight > 0 and demand.need > 0]
    weights = {demand.name: fractions.Fraction(str(demand.weight)) for demand in active}
    highest = {d.name: min(fractions.Fraction(d.need), fractions.Fraction(str(d.maximum)) * budget) for d in active}
    lowest = {d.name: min(highest[d.name], fractions.Fraction(str(d.minimum)) * budget) for d in active}
    shares = dict.fromkeys((demand.name for demand in demands), fractions.Fraction(0))
    return shares | _level_out(budget, weights, lowest, highest)


def _level_out(
    budget: fractions.Fraction,
    weights: Mapping[str, fractions.Fraction],
    lowest: Mapping[str, fractions.Fraction],
    highest: Mapping[str, fractions.Fraction],
) -> dict[str, fractions.Fraction]:
    """Raise the water until the budget is used or every section is at its top."""

    def at(level: fractions.Fraction) -> dict[str, fractions.Fraction]:
        return {name: min(highest[name], max(lowest[name], level * weight)) for name, weight in weights.items()}

    stops = sorted(
        {bound[name] / weights[name] for name in weights for bound in (lowest, highest)} | {fractions.Fraction(0)}
    )
    for low, high in pairwise(stops):
        below, above = at(low), at(high)
        if (reached := sum(above.values())) >= budget:
            start = sum(below.values())
            part = (budget - start) / (reached - start) if reached > start else fractions.Fraction(0)
            return {name: below[name] + (above[name] - below[name]) * part for name in weights}
    return at(stops[-1])
