"""Exact cosine against every stored vector: signed bytes, one pass over memory."""

from __future__ import annotations

import numpy as np
import simsimd
from numpy.typing import NDArray

from haversack.recall.columns import Columns

__all__ = ["cosines"]


def cosines(columns: Columns, query: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Similarity of each row with the query, 0 for rows without a vector; None when the query has no direction."""
    top = float(np.abs(query).max(initial=0.0))
    if not top or not columns.rows:
        return None
    codes = np.rint(query * (127 / top)).astype(np.int8)
    products = np.asarray(simsimd.cdist(codes[None, :], columns.vectors, metric="inner", out_dtype="f32"))[0]
    products *= columns.scale
    products *= np.float32(top / 127)
    return products
