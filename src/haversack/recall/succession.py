"""Which of several statements on one matter holds: the later one, whatever its words. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from haversack.recall.columns import Columns
from haversack.recall.index import Index

__all__ = ["MOST_NEWER", "newer", "order_in_time", "taken_up"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
MOST_NEWER = 9.0
"""The most log-odds by which a later statement is raised above an earlier one."""
_TOP = 64
"""How many of the best candidates are compared."""
_READ = 400
"""How many of the best candidates may take up what one of the first said."""
_SELDOM, _SELDOM_SHARE = 3, 0.005
"""Candidates that may have a word which tells what one is about, and their share of many; of few it tells nothing."""
_FEW = 8
"""Candidates below which what is usual among them says nothing."""
_ALIKE = 0.4
"""The cosine that two of a few need."""
_STEP = np.float32(0.05)
_SURE = (0.45, 5.0)
"""How far from the usual cosine to 1 two statements must lie to be of one matter, and how far below the earlier one the
later may stand …"""
_ASKED = (0.25, MOST_NEWER)
"""… and the same where the question asks for what holds now. Chosen on one half of the changes in `bench/lived`."""
_SHARED = 0.3
"""How much of the earlier one's match by words the later one has at least."""
_NEAR = 3.0
"""Log-odds below the best within which candidates answer equally well, as far as time decides between them."""


def newer(
    columns: Columns, rows: Rows, odds: Floats, words: Floats, stated: NDArray[np.bool_], *, latest: bool
) -> Floats | None:
    """Return what each `stated` row gains that says later what another one said, to stand just above it; None: nothing.

    Two rows are of one matter when their vectors are much more alike than those of the best candidates usually are,
    and when the later one has the question's words about as well (`words`, 0..1): a date or a number that only the
    earlier one has makes it the answer.
    """
    top = np.argsort(-odds, kind="stable")[:_TOP]
    those = np.flatnonzero(stated[top])
    if len(those) < 2 or not columns.dimension:  # noqa: PLR2004 - an earlier one and a later one
        return None
    share, width = _ASKED if latest else _SURE
    alike = _cosines(columns, rows[top])
    usual = float(np.median(alike[np.triu_indices(len(top), 1)])) if len(top) >= _FEW else 0.0
    least = max(usual + share * (1 - usual), _ALIKE if len(top) < _FEW else 0.0)
    time, raised, words = columns.time[rows[top]], odds[top].copy(), words[top]
    for one in those:
        same = those[(alike[one, those] >= least) & (words[those] >= np.float32(_SHARED) * words[one])]
        behind = same[(time[same] > time[one]) & (raised[same] <= raised[one]) & (raised[same] >= raised[one] - width)]
        raised[behind] = raised[one] + _STEP
    return _gains(top, np.minimum(raised - odds[top], np.float32(MOST_NEWER)), len(odds))


def taken_up(index: Index, rows: Rows, odds: Floats, stated: NDArray[np.bool_]) -> Floats | None:
    """Return what each row gains that takes up what an earlier one said, to stand just above it; None: nothing.

    Who says that something has changed names what it was: "Gave the whaling book away, I'm on a murder mystery".
    So the later one has a word of the earlier one that few candidates have, is by the same speaker, and `stated` as
    it is. For questions that ask for what holds now. Needs an embedder with word pieces.
    """
    if index.vocabulary is None:
        return None
    read = np.argsort(-odds, kind="stable")[:_READ]
    flat, ends = index.pieces.of(rows[read])
    held = np.bincount(flat)
    seldom = held.take(flat) <= max(min(_SELDOM, len(read) // _FEW), _SELDOM_SHARE * len(read))
    telling = np.zeros((len(read), len(held)), np.bool_)
    telling[np.repeat(np.arange(len(read)), np.diff(ends, prepend=0))[seldom], flat[seldom]] = True
    speaker, time, said, raised = (
        index.columns.speaker[rows[read]],
        index.columns.time[rows[read]],
        stated[read],
        odds[read],
    )
    for one in range(min(_TOP, len(read))):
        later = (time > time[one]) & (speaker == speaker[one]) & (said == said[one])
        later &= (raised <= raised[one]) & (raised >= raised[one] - np.float32(MOST_NEWER))
        behind = np.flatnonzero(later)
        raised[behind[(telling[behind] & telling[one]).any(axis=1)]] = raised[one] + _STEP
    return _gains(read, np.minimum(raised - odds[read], np.float32(MOST_NEWER)), len(odds))


def _gains(places: NDArray[np.intp], gained: Floats, count: int) -> Floats | None:
    if not gained.any():
        return None
    gains = np.zeros(count, np.float32)
    gains[places] = gained
    return gains


def order_in_time(columns: Columns, rows: Rows, odds: Floats, stated: NDArray[np.bool_]) -> Floats:
    """Return where those that answer about as well as the best stand in time: the newest 1, the oldest 0, others 0.

    What was `stated` holds until another statement says otherwise, so talk does not make it older: it has 1.
    """
    near = np.flatnonzero(odds >= odds.max(initial=-np.inf) - np.float32(_NEAR))
    order = near[np.lexsort((columns.born[rows[near]], columns.time[rows[near]]))]
    places = np.zeros(len(odds), np.float32)
    places[order] = np.arange(len(order), dtype=np.float32) / np.float32(max(1, len(order) - 1))
    places[near[stated[near]]] = 1
    return places


def _cosines(columns: Columns, rows: Rows) -> Floats:
    """Cosines between rows; 0 for one without a vector."""
    vectors = columns.vectors[rows].astype(np.float32)
    lengths = np.sqrt(np.einsum("rc,rc->r", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
    return np.einsum("ac,bc->ab", vectors, vectors)
