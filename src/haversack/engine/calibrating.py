"""Estimates that learn: counters for unknown tokenizers, scaled by what providers reported for prompts counted so.

Law: a calibrated count is an estimate still, and never below the largest share that was ever reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING

from haversack.errors import ConflictError, StoreError
from haversack.lazy import lazy
from haversack.llm.calibrate import Calibration
from haversack.store.port import SYSTEM, Batch, Store, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting
from haversack.tokens.counter import Counter, CountKind

if TYPE_CHECKING:
    from haversack.tokens import batch, cut
else:
    batch = lazy("haversack.tokens.batch")
    cut = lazy("haversack.tokens.cut")

__all__ = ["CALIBRATIONS", "Calibrations"]

CALIBRATIONS = Collection("calibration", Calibration)
_STEP = 5
"""Percent: prices are kept by the counter's name, so there are few of them."""
_LOWEST = 50
"""No published tokenizer needs less than this share of the estimate for ordinary text."""
_MARGIN = 1.02


class Calibrations:
    """Counters by model, with what any process has learned of each. Safe for threads."""

    def __init__(self, store: Store, counter: Callable[[str], Counter]) -> None:
        self._store = store
        self._counter = counter
        self._scaled: dict[tuple[str, int], Counter] = {}
        self._lock = Lock()

    def counter(self, model: str) -> Counter:
        """The counter for a model's or an encoding's name; an estimate as tight as was learned."""
        plain = self._counter(model)
        if plain.kind is not CountKind.ESTIMATE:
            return plain
        percent = _percent(self._known(model)[0])
        if percent == 100:  # noqa: PLR2004 - all of it
            return plain
        name = (plain.encoding, percent)
        with self._lock:
            if name not in self._scaled:
                self._scaled[name] = _scaled(plain, percent)
            return self._scaled[name]

    def learn(self, model: str, *, counted: int, reported: int) -> None:
        """Take in one prompt; what exact counters count teaches nothing. A busy store loses it and nothing else."""
        if self._counter(model).kind is not CountKind.ESTIMATE:
            return
        with suppress(StoreError, ConflictError):
            persisting(lambda: self._learn(model, counted, reported))

    def _learn(self, model: str, counted: int, reported: int) -> None:
        before, version = self._known(model)
        after = before.observe(round(counted * 100 / _percent(before)), reported)
        written = Written(collection=CALIBRATIONS.name, key=model, value=after.encode(), expected=version)
        self._store.apply(SYSTEM, Batch(records=(written,)))

    def _known(self, model: str) -> tuple[Calibration, int]:
        """What any process has learned so far, and the version of its record."""
        record = self._store.record(SYSTEM, CALIBRATIONS.name, model)
        return CALIBRATIONS.value_of(record) or Calibration(), 0 if record is None else record.version


def _percent(learned: Calibration) -> int:
    """What is left of a plain estimate: less only after enough prompts, more at once."""
    needed = _STEP * math.ceil(100 * learned.highest * _MARGIN / _STEP)
    if needed > 100:  # noqa: PLR2004 - all of it
        return needed
    return max(_LOWEST, needed) if learned.is_trusted else 100


def _scaled(plain: Counter, percent: int) -> batch.BatchCounter:
    """Rounded up per framed piece and then summed, so that a whole never costs more than its parts."""

    def count(texts: list[str]) -> list[int]:
        pieces: list[str] = []
        bounds = [0]
        for text in texts:
            pieces += cut.segments(text)
            bounds.append(len(pieces))
        prices = [-(-price * percent // 100) for price in plain.count_many(pieces)]
        return [sum(prices[start:end]) for start, end in pairwise(bounds)]

    return batch.BatchCounter(f"{plain.encoding}*{percent}%", CountKind.ESTIMATE, count)
