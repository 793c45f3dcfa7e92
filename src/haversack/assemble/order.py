"""In which order items may enter, and what a token of each is worth. The order never depends on the budget.

Worth falls along each order, which is what makes packing monotone (see `budget.pack`): a token is worth the score of
its item, with a gentle penalty for length; where a section prefers the newest or the most important, no item is worth
more than the ones before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from haversack.assemble.candidate import Candidate
from haversack.assemble.layout import Layout, Prefer, Sharing

__all__ = ["Entry", "entry_order"]

_LENGTH = 70
_POWER = 0.3
_FAINT = 1e-9
_UNDER = 0.9
"""How much of the least answer's worth the best of the rest has at most."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Items in order of entry."""

    order: list[int]
    """All of them, in the order that decides between sections."""
    within: list[list[int]]
    """The items of each section; empty lists where sections do not share by weight."""
    worth: list[float]
    """Of one token, by item."""


def entry_order(
    candidates: Sequence[Candidate],
    live: Sequence[int],
    *,
    layout: Layout,
    section: Sequence[int],
    prices: Sequence[int],
) -> Entry:
    """Order the live candidates of a layout; `section` and `prices` are by candidate."""
    worth = _worth(candidates, live, prices)
    _put_below(candidates, live, worth, layout)
    best = _by_worth(candidates, live, worth)
    if layout.sharing is Sharing.SCORE:
        return Entry(best, [], worth)
    within: list[list[int]] = [[] for _ in layout.sections]
    for item in best:
        within[section[item]].append(item)
    within = [_preferred(candidates, items, part.prefer) for items, part in zip(within, layout.sections, strict=True)]
    if layout.sharing is Sharing.PRIORITY:
        return _by_priority(candidates, within, worth)
    weights = [part.weight for part in layout.sections]
    weighted = np.array([worth[item] * weights[section[item]] for item in best])
    order = np.array(best, dtype=np.int64)[np.argsort(-weighted, kind="stable")].tolist()
    for items, part in zip(within, layout.sections, strict=True):
        if part.prefer is not Prefer.SCORE:
            _level_down(items, worth)
    return Entry(order, within, worth)


def _worth(candidates: Sequence[Candidate], live: Sequence[int], prices: Sequence[int]) -> list[float]:
    worth = [_FAINT] * len(candidates)
    for item in live:
        score = candidates[item].score
        if score > _FAINT:
            price = prices[item]
            worth[item] = score * (_LENGTH / price) ** _POWER if price > _LENGTH else score
    return worth


def _put_below(candidates: Sequence[Candidate], live: Sequence[int], worth: list[float], layout: Layout) -> None:
    """What does not answer is worth less than all that does, also where its section weighs more."""
    rest = [item for item in live if not candidates[item].answers]
    if not rest or len(rest) == len(live):
        return
    least = min(worth[item] for item in live if candidates[item].answers)
    weights = [part.weight for part in layout.sections if part.weight > 0] or [1.0]
    share = _UNDER * least / max(worth[item] for item in rest) * min(weights) / max(weights)
    for item in rest if share < 1 else ():
        worth[item] = max(_FAINT, worth[item] * share)


def _by_worth(candidates: Sequence[Candidate], items: Sequence[int], worth: Sequence[float]) -> list[int]:
    """Best first; the newer memory where two are equal. `items` rise."""
    values = np.array([worth[item] for item in items], dtype=np.float64)
    places = np.argsort(-values)
    order: list[int] = np.array(items, dtype=np.int64)[places].tolist()
    ranked = values[places]
    edges = [0, *(np.flatnonzero(ranked[1:] != ranked[:-1]) + 1).tolist(), len(order)]
    if len(edges) <= len(order):
        for start, end in pairwise(edges):
            order[start:end] = sorted(sorted(order[start:end]), key=lambda item: _age(candidates[item]), reverse=True)
    return order


def _by_priority(candidates: Sequence[Candidate], within: Sequence[Sequence[int]], worth: list[float]) -> Entry:
    """Section after section, in each tier anew; a token is worth the less the later its step comes."""
    order = [item for items in within for item in items]
    tiers = sorted({candidates[item].tier for item in order}, reverse=True)
    step = {tier: 1 + place * len(within) for place, tier in enumerate(tiers)}
    if len(tiers) > 1:
        order.sort(key=lambda item: step[candidates[item].tier])
    for number, items in enumerate(within):
        token = {tier: 1 / (first + number) for tier, first in step.items()}
        for item in items:
            worth[item] = token[candidates[item].tier]
    return Entry(order, [], worth)


def _age(candidate: Candidate) -> tuple[datetime, str]:
    return (candidate.memory.event_time, candidate.memory.id)


def _preferred(candidates: Sequence[Candidate], items: list[int], prefer: Prefer) -> list[int]:
    match prefer:
        case Prefer.SCORE:
            return items
        case Prefer.IMPORTANCE:
            told = [candidates[item].memory.importance for item in items]
        case Prefer.NEWEST:
            told = [candidates[item].memory.event_time for item in items]
    keys = {item: (candidates[item].answers, value) for item, value in zip(items, told, strict=True)}
    return sorted(items, key=keys.__getitem__, reverse=True)


def _level_down(items: Sequence[int], worth: list[float]) -> None:
    least = float("inf")
    for item in items:
        worth[item] = least = min(least, worth[item])
