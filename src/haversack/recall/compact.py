"""An index without the rows that stand for nothing any more: arrays are cut and numbered anew, and no text is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haversack.recall.columns import NOWHERE, Flag
from haversack.recall.index import Index
from haversack.recall.names import Names, entity_key

__all__ = ["compacted"]


def compacted(index: Index) -> Index:
    """Return a new index that holds nothing of rows that are gone: no id, no word, no vector, no name of theirs alone.

    It shares no array with `index`, which may be a view. Rows keep their order.
    """
    old = index.columns
    rows = np.flatnonzero((old.flags & np.uint16(Flag.PRESENT)) != 0)
    place = _numbered(rows, old.rows)
    made = Index(old.dimension, index.vocabulary, index.signs.width)
    arrays = {name: array[rows] for name, array in old.arrays().items()}
    for name in ("previous", "following"):
        arrays[name] = _renamed(arrays[name], place)
    sessions, arrays["session"] = _in_use(arrays["session"], len(index.session_length))
    speakers, arrays["speaker"] = _in_use(arrays["speaker"], len(index.speakers))
    made.columns.load(arrays)
    made.words, made.facets = index.words.renumbered(place), index.facets.renumbered(place)
    made.names = Names(name for name in index.names if len(made.facets.find(entity_key(name))[0]))
    if index.vocabulary is not None:
        flat, ends = index.pieces.of(rows)
        made.pieces.load(flat, np.append(np.int64(0), ends))
    signs, counts = index.signs.of(rows)
    made.signs.load(
        {"signs": signs, "sign_starts": np.cumsum(counts) - counts, "sign_counts": counts},
    )
    spoken = list(index.speakers)
    made.take_over(
        ids=[index.ids[row] for row in rows.tolist()],
        sessions=[index.session_names[code] for code in sessions],
        speakers=[spoken[code] for code in speakers],
        tails=_renamed(np.array([index.tails[code] for code in sessions], np.int64), place).tolist(),
        session_length=[index.session_length[code] for code in sessions],
        upto=index.upto,
    )
    return made


def _numbered(kept: NDArray[np.intp], count: int) -> NDArray[np.int32]:
    """The new number of each of `count` old ones; NOWHERE, also for an old NOWHERE, where it is not kept."""
    place = np.full(count + 1, NOWHERE, np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    return place


def _renamed(codes: NDArray[Any], place: NDArray[np.int32]) -> NDArray[Any]:
    return place[codes].astype(codes.dtype)


def _in_use(codes: NDArray[Any], count: int) -> tuple[Sequence[int], NDArray[Any]]:
    """The codes that are in use, rising, and all of them by their place among those."""
    used = np.unique(codes[codes != NOWHERE])
    return used.tolist(), _renamed(codes, _numbered(used, count))
