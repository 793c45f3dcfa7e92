"""Exact cosine against every stored vector: signed bytes, one pass over memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import simsimd
from numpy.typing import NDArray

from haversack.recall.columns import Columns

__all__ = ["cosines"]

_LARGE = 16_000_000
"""Bytes of vectors from which a second thread takes one half: below, starting it costs what it saves."""


def cosines(columns: Columns, query: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Similarity of each row with the query, 0 for rows without a vector; None when the query has no direction."""
    top = float(np.abs(query).max(initial=0.0))
    if not top or not columns.rows:
        return None
    codes, step = np.rint(query * (127 / top)).astype(np.int8), np.float32(top / 127)

    def part(rows: slice) -> NDArray[np.float32]:
        products = np.asarray(simsimd.cdist(codes[None, :], columns.vectors[rows], metric="inner", out_dtype="f32"))[0]
        products *= columns.scale[rows]
        products *= step
        return products

    if columns.vectors.nbytes < _LARGE:
        return part(slice(None))
    middle = columns.rows // 2
    with ThreadPoolExecutor(1) as other:  # made for each call: one that is kept would not outlive a fork
        second = other.submit(part, slice(middle, None))
        return np.concatenate((part(slice(middle)), second.result()))
