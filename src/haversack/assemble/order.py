"""In which order items may enter, and what a token of each is worth. The order never depends on the budget.

Worth falls along each order, which is what makes packing monotone (see `budget.pack`): a token is worth the score of
its item, with a gentle penalty for length; where a section prefers the newest or the most important, no item is worth
more than the ones before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from haversack.assemble.candidate import Candidate
from haversack.assemble.layout import Layout, Prefer, Sharing

__all__ = ["Entry", "entry_order"]

_LENGTH = 70
_POWER = 0.3
_FAINT = 1e-9


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
    worth = [_FAINT] * len(candidates)
    for i in live:
        score = candidates[i].score
        if score > _FAINT:
            price = prices[i]
            worth[i] = score * (_LENGTH / price) ** _POWER if price > _LENGTH else score
    if layout.sharing is Sharing.SCORE:
        return Entry(_by_worth(candidates, live, worth), [], worth)
    members: list[list[int]] = [[] for _ in layout.sections]
    for item in _by_worth(candidates, live, worth):
        members[section[item]].append(item)
    within = [_preferred(candidates, items, part.prefer) for items, part in zip(members, layout.sections, strict=True)]
    if layout.sharing is Sharing.PRIORITY:
        order = [item for items in within for item in items]
        tiers = sorted({candidates[item].tier for item in order}, reverse=True)
        order.sort(key=lambda item: -candidates[item].tier)
        for item in order:
            step = tiers.index(candidates[item].tier) * len(layout.sections) + section[item]
            worth[item] = 1 / (1 + step)
        return Entry(order, [], worth)
    weight = [part.weight for part in layout.sections]
    order = sorted(
        _by_worth(candidates, live, worth), key=lambda item: worth[item] * weight[section[item]], reverse=True
    )
    for items in within:
        _level_down(items, worth)
    return Entry(order, within, worth)


def _by_worth(candidates: Sequence[Candidate], items: Sequence[int], worth: Sequence[float]) -> list[int]:
    """Best first; the newer memory where two are equal."""
    order = sorted(items, key=worth.__getitem__, reverse=True)
    start = 0
    for place in range(1, len(order) + 1):
        if place == len(order) or worth[order[place]] != worth[order[start]]:
            if place - start > 1:
                order[start:place] = sorted(order[start:place], key=lambda i: _age(candidates[i]), reverse=True)
            start = place
    return order


def _age(candidate: Candidate) -> tuple[datetime, str]:
    return (candidate.memory.event_time, candidate.memory.id)


def _preferred(candidates: Sequence[Candidate], items: list[int], prefer: Prefer) -> list[int]:
    match prefer:
        case Prefer.SCORE:
            return items
        case Prefer.IMPORTANCE:
            return sorted(items, key=lambda i: candidates[i].memory.importance, reverse=True)
        case Prefer.NEWEST:
            return sorted(items, key=lambda i: candidates[i].memory.event_time, reverse=True)


def _level_down(items: Sequence[int], worth: list[float]) -> None:
    least = float("inf")
    for item in items:
        worth[item] = least = min(least, worth[item])
