"""What the entities of memories tell: who is named, and who is listed beside them. Pure but for who looks names up.

A memory that lists an entity of the question is lifted, whatever its words say. Then one step, as the walk
of a personalised PageRank begins: the best matches pass on to all memories that list their entities, three quarters as
much, and less the more memories list them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from haversack.recall.index import Index
from haversack.recall.names import Name, entity_key, names_in
from haversack.recall.nearest import best
from haversack.recall.rows import MemoriesOf

__all__ = ["lift"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
_SEEDS = 20
_PER_SEED = 16
_PASSED_ON = 64
"""Entities that are followed at the most: those that the seeds list most."""
_STEP = 0.75
"""What a step away counts, of being named."""
_COMMON = 0.1
_FEW = 10
"""An entity that more than these, and more than that share of the memories list, tells nothing apart."""


def lift(index: Index, text: str, rows: Rows, match: Floats, memories_of: MemoriesOf) -> Floats | None:
    """How much entities speak for every row, 0..1; None when for none. `match` is of the candidates `rows`."""
    said = index.names.said(text)
    found = {name: held for name in said if len(held := _holders(index, name))}
    lifted = np.zeros(index.columns.rows, np.float32)
    if found:
        rare = {name: _rarity(index, held) for name, held in found.items()}
        for name, held in found.items():
            lifted[held] += np.float32(rare[name])
        lifted *= np.float32(max(rare.values()) / max(math.fsum(rare.values()), 1e-9))
    seeds = _seeds(index, rows, match + lifted[rows])
    lifted += np.float32(_STEP) * _walked(index, seeds, frozenset(said), memories_of)
    return np.minimum(lifted, 1, out=lifted) if lifted.any() else None


def _holders(index: Index, name: Name) -> NDArray[np.int32]:
    """The rows that list an entity; none when too many do."""
    rows, _ = index.holders(index.facets, entity_key(name))
    return rows if len(rows) <= max(_FEW, _COMMON * index.present) else rows[:0]


def _rarity(index: Index, held: NDArray[np.int32]) -> float:
    """1 for what one memory lists, 0 for what all do."""
    return 1 - math.log(len(held)) / math.log(max(index.present, 2))


def _seeds(index: Index, rows: Rows, match: Floats) -> dict[int, float]:
    """The best candidates and how far they stand above the first that is none: 1 for the very best, squared."""
    near = best(match, index.columns.born[rows], _SEEDS + 1)
    near = near[np.lexsort((index.columns.born[rows[near]], -match[near]))]
    values = match[near].tolist()
    if len(values) < 2 or not values[0] > values[-1]:  # noqa: PLR2004 - one has none to stand above
        return {}
    low, span = values[-1], values[0] - values[-1]
    return {
        int(row): ((value - low) / span) ** 2
        for row, value in zip(rows[near].tolist(), values, strict=True)
        if value > low
    }


def _walked(index: Index, seeds: dict[int, float], said: frozenset[Name], memories_of: MemoriesOf) -> Floats:
    """What the seeds pass on to all that list their entities, themselves included, the strongest way."""
    passed: dict[Name, list[float]] = {}
    for strength, memory in zip(seeds.values(), memories_of(list(seeds)), strict=True):
        for name in names_in(() if memory is None else memory.entities)[:_PER_SEED]:
            if name not in said:
                passed.setdefault(name, []).append(strength)
    walked = np.zeros(index.columns.rows, np.float32)
    for name, given in sorted(passed.items(), key=lambda item: -math.fsum(item[1]))[:_PASSED_ON]:
        held = _holders(index, name)
        if len(held) < 2:  # noqa: PLR2004 - nobody else lists it
            continue
        got = _rarity(index, held) * min(1.0, math.fsum(given))
        walked[held] = np.maximum(walked[held], np.float32(got))
    return walked
