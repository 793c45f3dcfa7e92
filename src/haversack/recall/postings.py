"""Postings of one namespace: which rows hold a key, and how often. Arrays only, appended to, merged by size.

Rows arrive in rising order, so every list of rows is sorted. Rows are never taken out here: whoever reads a list masks
the rows that are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Postings", "Run"]

Rows = NDArray[np.int32]
Counts = NDArray[np.float32]
_TAIL_LIMIT = 8_192
_FIRST_TAIL = 128
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Run:
    """Postings sorted by key: rows `starts[i]:starts[i + 1]` belong to `keys[i]`."""

    keys: NDArray[np.uint64]
    starts: NDArray[np.int64]
    rows: Rows
    counts: NDArray[np.uint8]

    @classmethod
    def sort(cls, keys: NDArray[np.uint64], rows: Rows, counts: NDArray[np.uint8]) -> Run:
        """A run of postings whose rows rise within each key."""
        order = np.argsort(keys, kind="stable")
        unique, starts = np.unique(keys[order], return_index=True)
        return cls(unique, np.append(starts, len(keys)).astype(np.int64), rows[order], counts[order])

    def find(self, key: int) -> slice:
        """Where the key's postings stand; an empty slice when it has none."""
        place = int(np.searchsorted(self.keys, np.uint64(key)))
        if place == len(self.keys) or int(self.keys[place]) != key:
            return slice(0, 0)
        return slice(int(self.starts[place]), int(self.starts[place + 1]))

    def spread(self) -> NDArray[np.uint64]:
        """The key of each posting."""
        return np.repeat(self.keys, np.diff(self.starts))

    def renumbered(self, place: NDArray[np.int32]) -> Run:
        """The postings of the rows that have a place, which rises with them, under its number."""
        rows = place[self.rows]
        kept = rows >= 0
        keys, starts = np.unique(self.spread()[kept], return_index=True)
        ends = np.append(starts, np.count_nonzero(kept)).astype(np.int64)
        return Run(keys, ends, rows[kept], self.counts[kept])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.keys.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes


class Postings:
    """Sorted runs of falling size and a short unsorted tail that is scanned.

    Views share the arrays: runs never change, and the tail is only written to behind what a view has of it.
    """

    def __init__(self, runs: Sequence[Run] = ()) -> None:
        self._runs = tuple(runs)
        self._keys, self._rows, self._counts = _no_tail()
        self._used = 0

    def view(self) -> Postings:
        """The postings as they are now, whatever is appended here."""
        return copy(self)

    def append(self, first_row: int, documents: Sequence[Sequence[int]]) -> None:
        """Add documents as rows `first_row`, `first_row + 1`, …, each given by its keys, repeats included."""
        lengths = np.fromiter(map(len, documents), np.int64, len(documents))
        total = int(lengths.sum())
        if not total:
            return
        keys = np.fromiter((key for keys in documents for key in keys), np.uint64, total)
        rows = np.repeat(np.arange(first_row, first_row + len(documents), dtype=np.int32), lengths)
        order = np.lexsort((keys, rows))
        keys, rows = keys[order], rows[order]
        fresh = np.append(np.True_, (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1]))
        starts = np.flatnonzero(fresh)
        counts = np.minimum(np.diff(np.append(starts, total)), 255).astype(np.uint8)
        self._take(keys[starts], rows[starts], counts)

    def find(self, key: int) -> tuple[Rows, NDArray[np.uint8]]:
        """Rows that hold the key, rising, and how often each does."""
        found = [(run.rows[place], run.counts[place]) for run, place in self._places(key)]
        tail = np.flatnonzero(self._keys[: self._used] == np.uint64(key))
        if len(tail) or not found:
            found.append((self._rows[tail], self._counts[tail]))
        if len(found) == 1:
            return found[0]
        return np.concatenate([rows for rows, _ in found]), np.concatenate([counts for _, counts in found])

    def renumbered(self, place: NDArray[np.int32]) -> Postings:
        """The postings of the rows that have a place (not below 0), which rises with them, under its number."""
        return Postings([run for run in (each.renumbered(place) for each in self.runs()) if len(run.rows)])

    def runs(self) -> list[Run]:
        """Everything as sorted runs."""
        return list(_pushed(self._runs, self._tail()) if self._used else self._runs)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        tail = self._keys.nbytes + self._rows.nbytes + self._counts.nbytes
        return tail + sum(run.nbytes for run in self._runs)

    def _places(self, key: int) -> Iterator[tuple[Run, slice]]:
        for run in self._runs:
            place = run.find(key)
            if place.stop > place.start:
                yield run, place

    def _take(self, keys: NDArray[np.uint64], rows: Rows, counts: NDArray[np.uint8]) -> None:
        size = len(keys)
        if self._used + size > _TAIL_LIMIT:
            self._seal()
        if size > _TAIL_LIMIT:
            self._runs = _pushed(self._runs, Run.sort(keys, rows, counts))
            return
        if self._used + size > len(self._keys):
            room = min(_TAIL_LIMIT, max(_FIRST_TAIL, 2 * (self._used + size)))
            self._keys, self._rows = np.resize(self._keys, room), np.resize(self._rows, room)
            self._counts = np.resize(self._counts, room)
        place = slice(self._used, self._used + size)
        self._keys[place], self._rows[place], self._counts[place] = keys, rows, counts
        self._used += size

    def _seal(self) -> None:
        if self._used:
            self._runs = _pushed(self._runs, self._tail())
            self._keys, self._rows, self._counts = _no_tail()
            self._used = 0

    def _tail(self) -> Run:
        place = slice(0, self._used)
        return Run.sort(self._keys[place], self._rows[place], self._counts[place])


def _pushed(runs: tuple[Run, ...], run: Run) -> tuple[Run, ...]:
    """With one more run, and with the last ones merged as long as they are of like size."""
    while runs and len(runs[-1].rows) < _GROWTH * len(run.rows):
        runs, run = runs[:-1], _merged(runs[-1], run)
    return (*runs, run)


def _merged(older: Run, newer: Run) -> Run:
    keys = np.concatenate([older.spread(), newer.spread()])
    rows, counts = np.concatenate([older.rows, newer.rows]), np.concatenate([older.counts, newer.counts])
    return Run.sort(keys, rows, counts)


def _no_tail() -> tuple[NDArray[np.uint64], Rows, NDArray[np.uint8]]:
    return np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.uint8)
