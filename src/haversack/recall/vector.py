"""Exact cosine against every stored vector: signed bytes, one pass over memory."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
import simsimd
from numpy.typing import NDArray

from haversack.recall.columns import Columns

__all__ = ["cosines"]

_LARGE = 6_000_000
"""Bytes of vectors from which a second thread takes one half: below, waking it costs what it saves."""


def cosines(columns: Columns, query: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Similarity of each row with the query, 0 for rows without a vector; None when the query has no direction."""
    top = float(np.abs(query).max(initial=0.0))
    if not top or not columns.rows:
        return None
    codes, step = np.rint(query * (127 / top)).astype(np.int8)[None, :], np.float32(top / 127)

    def part(rows: slice) -> NDArray[np.float32]:
        # not with `out`: each such call would take a reference from None, until Python stops (simsimd 6.5)
        products = np.asarray(simsimd.cdist(codes, columns.vectors[rows], metric="inner", out_dtype="f32"))[0]
        products *= columns.scale[rows]
        products *= step
        return products

    if columns.vectors.nbytes < _LARGE:
        return part(slice(None))
    middle = columns.rows // 2
    other = _other_thread(os.getpid()).submit(part, slice(middle, None))
    return np.concatenate((part(slice(middle)), other.result()))


@lru_cache(maxsize=1)
def _other_thread(process: int) -> ThreadPoolExecutor:  # noqa: ARG001 - a forked process has none of its parent's threads
    """One for all scans of a process; it ends with the process."""
    return ThreadPoolExecutor(1, thread_name_prefix="haversack-scan")
