"""A filter as a mask over columns: exactly the memories that `Filter.reason_against` lets pass."""

from __future__ import annotations

from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from haversack.model.query import Filter
from haversack.model.times import micros
from haversack.recall.columns import KINDS, NOWHERE, Flag
from haversack.recall.facets import field_key, tag_key
from haversack.recall.index import Index

__all__ = ["Mask", "allowed"]

Mask = NDArray[np.bool_]


def allowed(index: Index, filter: Filter, now: datetime) -> Mask:  # noqa: A002 - the face's word for it
    """Which rows may answer; fields whose key unequal values share are only narrowed, the caller verifies them."""
    columns = index.columns
    mask = _alive(index, filter, now)
    if filter.kinds is not None:
        wanted = np.array([kind in filter.kinds for kind in KINDS])
        mask &= wanted[columns.kind]
    if filter.since is not None:
        mask &= columns.time >= micros(filter.since)
    if filter.until is not None:
        mask &= columns.time < micros(filter.until)
    if filter.session is not None:
        mask &= columns.session == index.sessions.get(filter.session, NOWHERE - 1)
    for key in [*map(tag_key, sorted(filter.tags)), *(field_key(*field) for field in filter.where)]:
        mask = _only(mask, index.facets.find(key)[0])
    return mask


def _alive(index: Index, filter: Filter, now: datetime) -> Mask:  # noqa: A002
    columns, moment = index.columns, micros(filter.as_of or now)
    bad = Flag.PRESENT | Flag.DELETED | Flag.REPLACED
    mask = (columns.flags & np.uint8(bad)) == Flag.PRESENT
    if index.dated:
        mask &= (columns.valid_from <= moment) & (columns.valid_to > moment)
    return mask


def _only(mask: Mask, rows: NDArray[np.int32]) -> Mask:
    kept = np.zeros_like(mask)
    kept[rows] = mask[rows]
    return kept
