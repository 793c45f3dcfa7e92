"""The word pieces of every row, end to end: what soft matching compares with the question's."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from haversack.recall.columns import room

__all__ = ["Pieces"]

_MOST = 512
"""Different pieces kept of one row."""


class Pieces:
    """Rows of piece numbers in two growing arrays; each piece of a row stands there once. Views share them."""

    def __init__(self) -> None:
        self._flat = np.empty(0, np.uint16)
        self._ends = np.zeros(1, np.int64)
        self._rows = 0

    def view(self) -> Pieces:
        """The rows as they are now, whatever is appended here."""
        return copy(self)

    def append(self, rows: Sequence[Sequence[int]]) -> None:
        """Add rows, in order."""
        unique = [sorted(set(row))[:_MOST] for row in rows]
        lengths = np.fromiter(map(len, unique), np.int64, len(unique))
        used, total = int(self._ends[self._rows]), int(lengths.sum())
        self._flat = np.resize(self._flat, room(len(self._flat), used + total))
        self._ends = np.resize(self._ends, room(len(self._ends), self._rows + len(rows) + 1))
        self._flat[used : used + total] = np.fromiter(chain.from_iterable(unique), np.uint16, total)
        self._ends[self._rows + 1 : self._rows + 1 + len(rows)] = used + np.cumsum(lengths)
        self._rows += len(rows)

    def of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """The pieces of these rows end to end, and where each row's end."""
        starts, lengths = self._ends[rows], self._ends[rows + 1] - self._ends[rows]
        ends = np.cumsum(lengths)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)
        return self._flat.take(places), ends

    def arrays(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """All pieces, and where each row ends, from 0."""
        return self._flat[: self._ends[self._rows]], self._ends[: self._rows + 1]

    def load(self, flat: NDArray[np.uint16], ends: NDArray[np.int64]) -> None:
        """Take over what `arrays` gave."""
        self._flat, self._ends, self._rows = flat, ends, len(ends) - 1

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._flat.nbytes + self._ends.nbytes
