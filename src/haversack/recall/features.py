"""What is measured of each candidate for one question: one array per feature. Pure.

What they are called is what `bench/recall/train.py` learns weights for; a change here asks for new weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.model.times import micros
from haversack.recall.columns import NOWHERE, Columns, Flag
from haversack.recall.index import Index
from haversack.recall.lexical import Term
from haversack.recall.question import Question
from haversack.scoring.temporal import Grain

__all__ = ["GROUPS", "Evidence", "distinct", "features"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Places = NDArray[np.int32]
GROUPS = {
    **dict.fromkeys(("lexical", "window", "window_cover", "session_words"), "words"),
    **dict.fromkeys(("dense", "cosine", "soft"), "meaning"),
    **dict.fromkeys(("before", "after", "two_away", "answers"), "neighbours"),
    "session_best": "session",
    **dict.fromkeys(("speaker_named", "user", "assistant"), "speaker"),
    **dict.fromkeys(("user_asks_of_self", "assistant_asked_of_self", "assistant_asked_about"), "speaker"),
    **dict.fromkeys(("on_day", "in_month", "in_year", "soon_after"), "date"),
    **dict.fromkeys(("tells_when", "tells_amount", "tells_name", "is_question", "asks", "prefers"), "wording"),
    **dict.fromkeys(("brief", "size", "over_60"), "length"),
}
"""The group that each feature is reported in."""
_DAY = 86_400_000_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What earlier steps found, over all rows of the namespace."""

    terms: Sequence[Term]
    lexical: Floats
    """BM25, the best allowed row 1."""
    cosine: Floats | None
    """As it is, not below 0; None without vectors."""
    dense: Floats | None
    """The same with the best allowed row 1, and `lexical` where a row has no vector yet."""
    soft: Floats
    """Word-level likeness above the ordinary, the best row 1; 0 where it was not looked for."""
    match: Floats
    """The fused match that neighbours and sessions pass on."""


class _Around(NamedTuple):
    """Rows and the turns beside them: a copy of their part of a column answers for all."""

    wider: Rows
    """The rows and their neighbours, each once, rising."""
    places: tuple[Places, ...]
    """Where in `wider` each row stands, and the ones before, after, two before and two after; its end: nowhere."""

    def part(self, column: NDArray[Any]) -> NDArray[Any]:
        """The column's values for `wider`, and 0 for nowhere."""
        return np.append(column.take(self.wider), column.dtype.type(0))


class _Sessions(NamedTuple):
    """The different sessions of some rows."""

    codes: NDArray[np.intp]
    """The index's number of each; the number of all its sessions stands for none."""
    of: NDArray[np.int32]
    """Which of them each row belongs to."""
    lone: NDArray[np.bool_]
    """Which rows belong to none."""


def features(index: Index, question: Question, evidence: Evidence, rows: Rows) -> dict[str, Floats]:
    """Each feature of these rows, by its name."""
    columns = index.columns
    around, sessions = _around(columns, rows), _sessions(index, rows)
    found: dict[str, NDArray[Any]] = {"lexical": evidence.lexical[rows]}
    found |= _windows(index, evidence.terms, around, sessions)
    zeros = np.zeros(len(rows), np.float32)
    found["dense"] = zeros if evidence.dense is None else evidence.dense[rows]
    found["cosine"] = zeros if evidence.cosine is None else evidence.cosine[rows]
    found["soft"] = evidence.soft[rows]
    found |= _neighbours(columns, evidence.match, rows, around)
    found["session_best"] = _session_best(evidence.match[rows], sessions)
    found |= _people(index, question, rows)
    found |= _dates(columns, question, rows)
    found |= _cues(columns.flags[rows], question)
    found |= _lengths(columns, rows)
    return {name: value.astype(np.float32, copy=False) for name, value in found.items()}


def _around(columns: Columns, rows: Rows) -> _Around:
    before, after = columns.previous.take(rows), columns.following.take(rows)
    before2 = np.where(before == NOWHERE, NOWHERE, columns.previous.take(before))
    after2 = np.where(after == NOWHERE, NOWHERE, columns.following.take(after))
    wider = distinct(columns.rows, rows, before, after, before2, after2)
    place = np.full(columns.rows + 1, len(wider), np.int32)  # the last entry stands for NOWHERE
    place[wider] = np.arange(len(wider), dtype=np.int32)
    return _Around(wider, tuple(map(place.take, (rows, before, after, before2, after2))))


def _sessions(index: Index, rows: Rows) -> _Sessions:
    count, session = len(index.sessions), index.columns.session[rows]
    codes = distinct(count + 1, np.where(session == NOWHERE, count, session))
    place = np.zeros(count + 1, np.int32)
    place[codes] = np.arange(len(codes), dtype=np.int32)
    return _Sessions(codes, place[session], session == NOWHERE)  # NOWHERE looks up the last


def distinct(count: int, *groups: NDArray[np.integer[Any]]) -> Rows:
    """The rows of all groups, each once, rising, NOWHERE left out; `count` rows exist."""
    held = np.zeros(count + 1, np.bool_)
    for rows in groups:
        held[rows] = True  # NOWHERE marks the last
    return np.flatnonzero(held[:-1])


def _windows(index: Index, terms: Sequence[Term], around: _Around, sessions: _Sessions) -> dict[str, Floats]:
    """Words found in the turns around as well as in the row, and in its whole session."""
    held = np.zeros((len(around.wider) + 1, len(terms)), np.float32)
    for column, term in enumerate(terms):
        _spread(held[:-1, column], term, around.wider)
    own, before, after, before2, after2 = (held.take(place, axis=0) for place in around.places)
    heard = own + np.float32(0.5) * (before + after) + np.float32(0.25) * (before2 + after2)
    weights = np.array([term.weight for term in terms], np.float32)
    window = _scaled(_weighed(heard / (heard + np.float32(1.2)), weights))
    return {
        "window": window,
        "window_cover": _weighed(np.minimum(heard, 1), weights) / np.float32(max(float(weights.sum()), 1e-6)),
        "session_words": np.where(sessions.lone, window, _session_words(index, own, sessions)[sessions.of]),
    }


def _spread(held: Floats, term: Term, wider: Rows) -> None:
    """Fill in how often each of the `wider` rows holds the term."""
    places = np.searchsorted(term.rows, wider)
    places[places == len(term.rows)] = 0
    found = np.flatnonzero(term.rows[places] == wider)
    held[found] = term.counts[places[found]]


def _weighed(values: NDArray[Any], weights: Floats) -> Floats:
    """One weighted sum a row; unlike a matrix product it does not depend on how many rows there are."""
    return np.einsum("rt,t->r", values, weights)


def _session_words(index: Index, own: Floats, sessions: _Sessions) -> Floats:
    """BM25 of each session as one text, the best 1; 0 for none."""
    count, terms = len(sessions.codes), own.shape[1]
    cells = (sessions.of * np.int32(terms))[:, None] + np.arange(terms, dtype=np.int32)
    held = np.bincount(cells.ravel(), own.ravel(), count * terms).reshape(count, terms)
    holders = np.count_nonzero(held, axis=0)
    weights = np.log(1 + (np.maximum(0, len(index.sessions) - holders) + 0.5) / (holders + 0.5))
    lengths, mean = index.extent.session_lengths, index.extent.session_mean
    scale = 0.9 * (0.6 + 0.4 * lengths[sessions.codes] / mean)
    words = (weights * held / (held + scale[:, None])).sum(axis=1)
    return _scaled(np.where(sessions.codes == len(index.sessions), 0, words).astype(np.float32))


def _scaled(values: Floats) -> Floats:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def _neighbours(columns: Columns, match: Floats, rows: Rows, around: _Around) -> dict[str, Floats]:
    """What the turns beside match, less for a long row, whose own words should speak."""
    near = around.part(match)
    asks = near * _has(around.part(columns.flags), Flag.ASKS)
    _, before, after, before2, after2 = around.places
    calm = np.minimum(1, 60 / np.maximum(1, columns.length[rows])) ** 2
    return {
        "before": calm * near.take(before),
        "after": calm * near.take(after),
        "two_away": calm * (near.take(before2) + near.take(after2)),
        "answers": calm * asks.take(before),
    }


def _has(flags: NDArray[np.uint16], flag: Flag) -> Floats:
    return ((flags & np.uint16(flag)) != 0).astype(np.float32)


def _session_best(match: Floats, sessions: _Sessions) -> Floats:
    best = np.zeros(len(sessions.codes), np.float32)
    np.maximum.at(best, sessions.of, match)
    return np.where(sessions.lone, match, best[sessions.of])


def _people(index: Index, question: Question, rows: Rows) -> dict[str, NDArray[Any]]:
    speakers = index.columns.speaker[rows]
    named = [index.speakers[name] for name in index.speakers_named(question.words)]
    user = speakers == index.speakers.get("user", NOWHERE - 1)
    assistant = speakers == index.speakers.get("assistant", NOWHERE - 1)
    return {
        "speaker_named": np.isin(speakers, named) if named else np.zeros(len(rows), np.bool_),
        "user": user,
        "assistant": assistant,
        "user_asks_of_self": user * question.first_person,
        "assistant_asked_of_self": assistant * question.first_person,
        "assistant_asked_about": assistant * question.about_assistant,
    }


def _dates(columns: Columns, question: Question, rows: Rows) -> dict[str, Floats]:
    times = columns.time[rows]
    inside = {grain: np.zeros(len(rows), np.float32) for grain in Grain}
    late = np.zeros(len(rows), np.float32)
    for span in question.spans:
        start, end = micros(span.start), micros(span.end)
        inside[span.grain] = np.maximum(inside[span.grain], (times >= start) & (times < end))
        if span.grain is not Grain.YEAR:
            late = np.maximum(late, np.where(times >= end, np.exp((end - times) / (7 * _DAY)), 0))
    return {
        "on_day": inside[Grain.DAY],
        "in_month": inside[Grain.MONTH],
        "in_year": inside[Grain.YEAR],
        "soon_after": late,
    }


def _cues(flags: NDArray[np.uint16], question: Question) -> dict[str, Floats]:
    return {
        "tells_when": _has(flags, Flag.TIMELY) * question.when,
        "tells_amount": _has(flags, Flag.COUNTS) * question.amount,
        "tells_name": _has(flags, Flag.NAMES) * question.name,
        "is_question": _has(flags, Flag.QUESTION),
        "asks": _has(flags, Flag.ASKS),
        "prefers": _has(flags, Flag.PREFERS),
    }


def _lengths(columns: Columns, rows: Rows) -> dict[str, NDArray[Any]]:
    size = np.maximum(1, columns.size[rows])
    return {
        "brief": np.minimum(1, columns.length[rows] / 10),
        "size": np.log1p(size) / 5,
        "over_60": np.maximum(0, np.log(size / 60)),
    }
