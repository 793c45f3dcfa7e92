"""Signals that shift the odds beside what was learned: trust, pins, entities, what the question itself says. Pure.

Where all memories are alike in one it is out of play and nothing changes: weights were learned on plain conversations.
The magnitudes come from `bench/recall/priors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from haversack.model.memory import Trust
from haversack.recall.columns import Flag
from haversack.recall.index import Index
from haversack.recall.ranking import Prior

__all__ = ["priors"]

Floats = NDArray[np.float32]
_TRUST = 0.9
"""Log-odds between a correction and what was extracted: a third for each level."""
_PINNED = 0.3
_ENTITIES = 4.0
_FIGURES = 1.2
_VERBATIM = 12.0
"""More than what everything else can add for others: what says the question itself comes first."""
_LEAST_TRUSTED = len(Trust) - 1


def priors(
    index: Index,
    rows: NDArray[np.int64],
    lexical: Floats,
    lifted: Floats | None,
    same: NDArray[np.bool_] | None,
    figures: Floats | None,
) -> Iterator[tuple[str, Prior, Floats]]:
    """Those in play, each with its signal for these rows. A pin counts where the question's words touch the memory."""
    extent, columns = index.extent, index.columns
    if extent.trusted is not None:
        usual = 1 - extent.trusted / _LEAST_TRUSTED
        trust = 1 - columns.trust[rows] / np.float32(_LEAST_TRUSTED)
        yield "trust", Prior(weight=_TRUST, usual=usual), trust.astype(np.float32)
    if extent.pinned:
        pinned = (columns.flags[rows] & np.uint16(Flag.PINNED)) != 0
        yield "pinned", Prior(weight=_PINNED), (pinned & (lexical > 0)).astype(np.float32)
    if lifted is not None:
        yield "entities", Prior(weight=_ENTITIES), lifted
    if figures is not None:
        yield "figures", Prior(weight=_FIGURES), figures
    if same is not None:
        yield "verbatim", Prior(weight=_VERBATIM), same.astype(np.float32)
