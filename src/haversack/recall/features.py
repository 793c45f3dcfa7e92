"""What is measured of each candidate for one question: one array per feature. Pure.

What they are called is what `bench/recall/train.py` learns weights for; a change here asks for new weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
Around = tuple[Rows, Rows, Rows, Rows]
BySession = tuple[NDArray[np.int32], NDArray[np.intp]]
"""Different sessions, and which of them each row belongs to."""
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


def features(index: Index, question: Question, evidence: Evidence, rows: Rows) -> dict[str, Floats]:
    """Each feature of these rows, by its name."""
    columns = index.columns
    around = _beside(columns, rows)
    by_session = np.unique(columns.session[rows], return_inverse=True)
    found: dict[str, NDArray[Any]] = {"lexical": evidence.lexical[rows]}
    found |= _windows(index, evidence.terms, rows, around, by_session)
    zeros = np.zeros(len(rows), np.float32)
    found["dense"] = zeros if evidence.dense is None else evidence.dense[rows]
    found["cosine"] = zeros if evidence.cosine is None else evidence.cosine[rows]
    found["soft"] = evidence.soft[rows]
    found |= _neighbours(columns, evidence.match, rows, around)
    found["session_best"] = _session_best(columns, evidence.match, rows, by_session)
    found |= _people(index, question, rows)
    found |= _dates(columns, question, rows)
    found |= _cues(columns.flags[rows], question)
    found |= _lengths(columns, rows)
    return {name: value.astype(np.float32, copy=False) for name, value in found.items()}


def _beside(columns: Columns, rows: Rows) -> Around:
    """The rows one before, one after, two before and two after; NOWHERE where there is none."""
    before, after = columns.previous[rows].astype(np.int64), columns.following[rows].astype(np.int64)
    before2 = np.where(before == NOWHERE, NOWHERE, columns.previous[before])
    after2 = np.where(after == NOWHERE, NOWHERE, columns.following[after])
    return before, after, before2, after2


def distinct(count: int, *groups: NDArray[np.integer[Any]]) -> Rows:
    """The rows of all groups, each once, rising, NOWHERE left out; `count` rows exist."""
    held = np.zeros(count + 1, np.bool_)
    for rows in groups:
        held[rows] = True  # NOWHERE marks the last
    return np.flatnonzero(held[:-1]).astype(np.int64)


def _at(values: Floats, rows: Rows) -> Floats:
    return np.where(rows == NOWHERE, np.float32(0), values[rows])


def _windows(
    index: Index, terms: Sequence[Term], rows: Rows, around: Around, by_session: BySession
) -> dict[str, Floats]:
    """Words found in the turns around as well as in the row, and in its whole session."""
    columns = index.columns
    wider = distinct(columns.rows, rows, *around)
    place = np.full(columns.rows + 1, len(wider), np.int32)  # the last entry stands for NOWHERE
    place[wider] = np.arange(len(wider), dtype=np.int32)
    places = [place[which] for which in (rows, *around)]
    codes, sessions = by_session
    scale = _session_scale(index, codes)
    window, cover = np.zeros(len(rows), np.float32), np.zeros(len(rows), np.float32)
    session = np.zeros(len(codes), np.float32)
    for term in terms:
        held = np.zeros(len(wider) + 1, np.float32)
        at = place[term.rows]
        inside = at < len(wider)
        held[at[inside]] = term.counts[inside]
        own, before, after, before2, after2 = (held[which] for which in places)
        heard = own + np.float32(0.5) * (before + after) + np.float32(0.25) * (before2 + after2)
        window += np.float32(term.weight) * heard / (heard + np.float32(1.2))
        cover += np.float32(term.weight) * np.minimum(1, heard)
        session += _session_share(own, sessions, scale, len(index.sessions))
    total = max(sum(term.weight for term in terms), 1e-6)
    lone = columns.session[rows] == NOWHERE
    heard_there = _scaled(np.where(codes == NOWHERE, 0, session))[sessions]
    return {
        "window": _scaled(window),
        "window_cover": cover / np.float32(total),
        "session_words": np.where(lone, _scaled(window), heard_there),
    }


def _session_scale(index: Index, codes: NDArray[np.int32]) -> Floats:
    lengths = np.array([*index.session_length, 0.0], np.float32)
    mean = max(1.0, float(lengths.sum()) / max(1, len(index.session_length)))
    return (0.9 * (0.6 + 0.4 * lengths[codes] / mean)).astype(np.float32)


def _session_share(own: Floats, sessions: NDArray[np.intp], scale: Floats, count: int) -> Floats:
    held = np.bincount(sessions, own, len(scale)).astype(np.float32)
    holders = int((held > 0).sum())
    weight = np.log(1 + (max(0, count - holders) + 0.5) / (holders + 0.5))
    return (weight * held / (held + scale)).astype(np.float32)


def _scaled(values: Floats) -> Floats:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def _neighbours(columns: Columns, match: Floats, rows: Rows, around: Around) -> dict[str, Floats]:
    """What the turns beside match, less for a long row, whose own words should speak."""
    before, after, before2, after2 = around
    calm = np.minimum(1, 60 / np.maximum(1, columns.length[rows])) ** 2
    return {
        "before": calm * _at(match, before),
        "after": calm * _at(match, after),
        "two_away": calm * (_at(match, before2) + _at(match, after2)),
        "answers": calm * _at(match, before) * _has(columns.flags[before], Flag.ASKS),
    }


def _has(flags: NDArray[np.uint16], flag: Flag) -> Floats:
    return ((flags & np.uint16(flag)) != 0).astype(np.float32)


def _session_best(columns: Columns, match: Floats, rows: Rows, by_session: BySession) -> Floats:
    codes, sessions = by_session
    best = np.zeros(len(codes), np.float32)
    np.maximum.at(best, sessions, match[rows])
    return np.where(columns.session[rows] == NOWHERE, match[rows], best[sessions])


def _people(index: Index, question: Question, rows: Rows) -> dict[str, NDArray[Any]]:
    speakers = index.columns.speaker[rows]
    named = [index.speakers[name] for name in index.speakers_named(question.words)]
    user = speakers == index.speakers.get("user", NOWHERE - 1)
    assistant = speakers == index.speakers.get("assistant", NOWHERE - 1)
    return {
        "speaker_named": np.isin(speakers, named),
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
