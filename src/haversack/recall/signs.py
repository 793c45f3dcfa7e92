"""The signs of the words of every row, end to end: what late interaction compares with the question's words."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import Signs
from haversack.recall.columns import room

__all__ = ["SignTable"]


class SignTable:
    """Rows are filled in any order; a row that was never filled has no words.

    Views share the words, to which more are only added behind theirs, and keep their places in arrays of their own.
    """

    def __init__(self, width: int = 0) -> None:
        """`width`: bytes of one word; 0 for an embedder that gives no signs, and then nothing is held."""
        self.width = width
        self._flat = np.empty((0, width), np.uint8)
        self._used = 0
        self._starts = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.int32)
        self._kept = False
        """Whether words that are here may be in use by a view."""
        self._lent = False
        """Whether places may be."""

    def view(self) -> SignTable:
        """The rows as they are now, whatever is filled in here."""
        self._kept = self._lent = True
        return copy(self)

    def release(self) -> None:
        """No view is in use any more."""
        self._kept = self._lent = False

    def put(self, row: int, signs: Signs) -> None:
        """Fill a row; words that it had are overwritten where no view has them."""
        if self._lent:
            self._starts, self._counts, self._lent = self._starts.copy(), self._counts.copy(), False
        if row >= len(self._starts):
            rows = room(len(self._starts), row + 1)
            self._starts, self._counts = _longer(self._starts, rows), _longer(self._counts, rows)
        count = len(signs)
        start = int(self._starts[row])
        if count == self._counts[row] and np.array_equal(self._flat[start : start + count], signs):
            return
        if count > self._counts[row] or self._kept:
            self._flat = _longer(self._flat, room(len(self._flat), self._used + count))
            self._starts[row], self._used = self._used, self._used + count
        start = int(self._starts[row])
        self._flat[start : start + count] = signs
        self._counts[row] = count

    def of(self, rows: NDArray[np.int64]) -> tuple[Signs, NDArray[np.int64]]:
        """The words of these rows end to end, and how many each has."""
        counts = np.zeros(len(rows), np.int64)
        known = np.flatnonzero(rows < len(self._counts))
        counts[known] = self._counts.take(rows[known])
        starts = np.zeros(len(rows), np.int64)
        starts[known] = self._starts.take(rows[known])
        ends = np.cumsum(counts)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
        return self._flat.take(places, axis=0), counts

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All there is, by name."""
        return {"signs": self._flat[: self._used], "sign_starts": self._starts, "sign_counts": self._counts}

    def load(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Take over what `arrays` gave."""
        self._flat = arrays["signs"].astype(np.uint8, copy=False)
        self._starts = arrays["sign_starts"].astype(np.int64, copy=False)
        self._counts = arrays["sign_counts"].astype(np.int32, copy=False)
        self._used = len(self._flat)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._flat.nbytes + self._starts.nbytes + self._counts.nbytes


def _longer(array: NDArray[Any], rows: int) -> NDArray[Any]:
    if rows == len(array):
        return array
    longer = np.zeros((rows, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
