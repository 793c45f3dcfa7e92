"""Whether time grows faster than what is sent, told from processor time on a busy machine."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["MOST", "Growth", "Limits", "growth_of", "undisturbed"]

MOST = 9.0
"""Four times the text may take up to so many times the time: in proportion it is 4, squared it is 16."""
_REPEATS = 2

Work = Callable[[int], Callable[[], object]]
"""Prepares the work for a text of so many characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How a growth is looked for."""

    sizes: tuple[int, ...]
    """Characters that are tried, in order."""
    few: int = 0
    """Up to so many, what takes longer than the floor is out of proportion: four times the text would not end."""
    floor: float
    """Seconds below which nothing is concluded."""
    each: float = 0.0
    """Seconds that a character may take before growth is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What four times the text took, of one work at one size."""

    ratio: float
    """How many times as long; 0 when the work was too quick for growth to matter."""
    seconds: float = 0.0
    size: int = 0

    @property
    def is_too_much(self) -> bool:
        """Whether it is out of proportion."""
        return self.ratio > MOST


def growth_of(work: Work, limits: Limits) -> Growth:
    """Return the growth at the first size where the work is slow enough to tell, and the worst before.

    A work that takes next to no time for each character at any size has no growth worth telling.
    """
    worst = Growth(ratio=0.0)
    for size in limits.sizes:
        call, enough = work(size), max(limits.floor, size * limits.each)
        if _time(call) <= enough or _time(call := work(size)) <= enough:
            continue
        if size > limits.few:
            worst = max(worst, _settled(work, size), key=lambda one: one.ratio)
        elif (seconds := min(_time(call) for _ in range(_REPEATS))) > enough:
            worst = Growth(ratio=math.inf, seconds=seconds, size=size)
        if worst.is_too_much:
            break
    return worst


def _settled(work: Work, size: int) -> Growth:
    """Return the least ratio of some tries: a busy moment makes single ones larger."""
    small, large = work(size), work(size * 4)
    before, after = _time(small), _time(large)
    for _ in range(_REPEATS):
        if after <= MOST * before:
            break
        before, after = min(before, _time(small)), min(after, _time(large))
    return Growth(ratio=after / before, seconds=after, size=size * 4)


def _time(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


@contextmanager
def undisturbed() -> Generator[None]:
    """Keep the garbage collector from running in between."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
