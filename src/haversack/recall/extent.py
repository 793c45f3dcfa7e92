"""What the columns of an index hold at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.recall.columns import LAST, Columns, Flag

__all__ = ["Extent", "measure"]


class Extent(NamedTuple):
    """What the columns hold at their ends; from it a query sees what it need not look at."""

    earliest: int
    """The time of the earliest row, in microseconds."""
    pinned: bool
    trusted: int | None
    """The code of the most trusted rows where trust differs."""
    senseless: bool
    """Whether any row has no direction to compare: no vector, or one of zeros."""
    session_lengths: NDArray[np.float64]
    """Words of each session, and 0 for none."""
    session_mean: float
    """Words per session, at least 1."""
    session_count: int
    """Sessions of which anything is left."""
    speaking: NDArray[np.bool_]
    """Which speakers have said anything that is left, by their codes."""


def measure(columns: Columns, session_length: Sequence[float], speakers: int) -> Extent:
    """Return the extent of these columns, given the words of each session and how many speakers there are."""
    present = (columns.flags & np.uint16(Flag.PRESENT)) != 0
    trust = columns.trust[present]
    lengths = np.array([*session_length, 0.0])
    count = int(np.count_nonzero(_which(columns.session[present], len(session_length))))
    return Extent(
        earliest=int(columns.time[present].min(initial=LAST)),
        pinned=bool((columns.flags & np.uint16(Flag.PINNED)).any()),
        trusted=int(trust.min()) if len(trust) and trust.min() != trust.max() else None,
        senseless=bool((columns.scale <= 0).any()),
        session_lengths=lengths,
        session_mean=max(1.0, float(lengths.sum()) / max(1, count)),
        session_count=count,
        speaking=_which(columns.speaker[present], speakers),
    )


def _which(codes: NDArray[np.integer[Any]], count: int) -> NDArray[np.bool_]:
    """Which of so many codes there are; NOWHERE is none."""
    held = np.zeros(count + 1, np.bool_)
    held[codes] = True  # NOWHERE marks the last
    return held[:-1]
