"""Which of a row of priced things stay when not all fit: the newest, the oldest, or both ends."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from haversack.budget.amount import check_tokens

__all__ = ["Keep", "cut"]


class Keep(StrEnum):
    """Which end of a row matters."""

    NEWEST = "newest"
    OLDEST = "oldest"
    ENDS = "ends"
    """Both: the middle is cut out."""


def cut(prices: Sequence[int], budget: int, keep: Keep = Keep.NEWEST) -> list[int]:
    """Indices of what stays, in order: an unbroken run from the end (or ends) that matters, within the budget.

    Raises InputError for a budget that is not a whole number from 0; 0 keeps nothing that costs anything.
    """
    room = check_tokens(budget)
    count = len(prices)
    match keep:
        case Keep.NEWEST:
            order = list(range(count - 1, -1, -1))
        case Keep.OLDEST:
            order = list(range(count))
        case Keep.ENDS:
            order = [place // 2 if place % 2 == 0 else count - 1 - place // 2 for place in range(count)]
    kept: list[int] = []
    for index in order:
        if prices[index] > room:
            break
        room -= prices[index]
        kept.append(index)
    return sorted(kept)
