"""Candidates with their scores, and what these are made of, told as signals once it is known which are wanted. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.recall.nearest import best
from haversack.scoring.blend import Learned, Traits, Weights
from haversack.scoring.signals import NOTHING, Formula, Range, ranges

__all__ = ["LATEST", "MOST_SIBLINGS", "Measure", "Prior", "Ranking", "measure"]

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
LATEST = 2.0
"""What the order in time of the best candidates weighs where the question asks for the newest word."""
MOST_SIBLINGS = 3.0
"""The most log-odds that better chunks of the same text take from one."""
_AS_IT_IS = Range(0.0, 1.0)


class Prior(NamedTuple):
    """A signal that shifts the odds by `weight · (signal - usual)`."""

    weight: float
    usual: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How the parts of a ranking are told."""

    ranges: Mapping[str, Range] = field(default_factory=dict[str, Range])
    """Of the parts that are log-odds; the others are signals already."""
    formula: Formula = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates with their scores."""

    rows: NDArray[np.int64]
    scores: Floats
    relevance: Floats
    """How likely each answers, 0..1, comparable between questions and namespaces."""
    parts: dict[str, Floats] = field(default_factory=dict[str, Floats])
    """What each group of features added to the log-odds, and signals, in the same order."""
    measures: tuple[Measure, Measure] = (Measure(), Measure())
    """Of what is sensed, and of what is judged by its words alone."""
    worded: Mask | None = None
    """Which are judged by their words alone; None: nothing is."""

    def first(self, born: NDArray[np.int64], mask: Mask | None = None, limit: int | None = None) -> Ranking:
        """The best `limit` under the mask, best first; equal scores stand in order of arrival: `born`, of all rows."""
        places = np.arange(len(self.rows)) if mask is None else np.flatnonzero(mask[self.rows])
        scores, born = self.scores[places], born[self.rows[places]]
        chosen = best(scores, born, len(places) if limit is None else limit)
        order = places[chosen[np.lexsort((born[chosen], -scores[chosen]))]]
        return Ranking(
            rows=self.rows[order],
            scores=self.scores[order],
            relevance=self.relevance[order],
            parts={name: part.take(order) for name, part in self.parts.items()},
            measures=self.measures,
            worded=None if self.worded is None else self.worded[order],
        )

    def signals(self) -> Floats:
        """One row per candidate, one column per part, 0..1."""
        if not self.parts:
            return np.zeros((len(self.rows), 0), np.float32)
        values = np.stack(list(self.parts.values()), axis=1)
        if not any(each.ranges for each in self.measures):
            return np.clip(values, 0, 1, out=values)
        told = np.array(
            [[each.ranges.get(name, _AS_IT_IS) for name in self.parts] for each in self.measures], np.float32
        )
        ends = told[0] if self.worded is None else told[self.worded.astype(np.intp)]
        values -= ends[..., 0]
        values /= np.where(ends[..., 1] > 0, ends[..., 1], 1)
        return np.clip(values, 0, 1, out=values)

    def formulas(self) -> list[Formula]:
        """How the signals of each candidate make its score."""
        sensed, worded = (each.formula for each in self.measures)
        if self.worded is None:
            return [sensed] * len(self.rows)
        return [worded if alone else sensed for alone in self.worded.tolist()]


@lru_cache(maxsize=64)
def measure(
    learned: Learned, traits: Traits, weights: Weights, priors: tuple[tuple[str, Prior], ...], *, latest: bool
) -> Measure:
    """How the parts are told that these weights lead to."""
    told = {**ranges(learned, traits), "siblings": Range(-MOST_SIBLINGS, MOST_SIBLINGS)}
    if not weights.prior:
        return Measure(ranges=told, formula=Formula(weights=MappingProxyType(weights.shares)))
    heavy = {name: each.spread for name, each in told.items()} | {name: each.weight for name, each in priors}
    heavy |= {"importance": weights.importance, "recency": LATEST if latest else weights.recency}
    start = learned.shift + sum(each.least for each in told.values()) - weights.importance / 2
    start -= sum(each.weight * each.usual for _, each in priors)
    return Measure(ranges=told, formula=Formula(weights=MappingProxyType(heavy), start=start, logistic=True))
