"""What is measured of each candidate for one question: one array per feature. Pure.

What they are called is what `bench/recall/train.py` learns weights for; a change here asks for new weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.model.memory import Kind
from haversack.model.times import micros
from haversack.recall.columns import KINDS, NOWHERE, Columns, Flag
from haversack.recall.index import Index
from haversack.recall.lexical import Term
from haversack.recall.question import Question
from haversack.scoring.temporal import Grain

__all__ = ["Around", "Evidence", "beside", "calm", "distinct", "features", "surroundings"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Places = NDArray[np.int32]
_DAY = 86_400_000_000.0
_PASSAGE = KINDS.index(Kind.PASSAGE)
_OFTEN = 10
"""Times as many rows as are looked at, from which those that hold a word are too many to go through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What earlier steps found of the candidates."""

    terms: Sequence[Term]
    lexical: Floats
    """BM25, the best allowed row 1."""
    cosine: Floats | None
    """As it is, not below 0; None without vectors."""
    dense: Floats | None
    """The same with the best allowed row 1, and `lexical` where a row has no vector yet."""
    soft: Floats | None
    """Word-level likeness above the ordinary, the best row 1; 0 where it was not looked for, None where nowhere."""
    late: tuple[Floats, Floats] | None
    """The same by late interaction, alone and with the turns around."""
    match: Floats
    """The fused match that neighbours and sessions pass on; of the rows in `Around.wider`, not of candidates alone."""


class Around(NamedTuple):
    """Rows and the turns beside them: a copy of their part of a column answers for all."""

    wider: Rows
    """-1 for nowhere, then the rows and their neighbours, each once, rising."""
    places: tuple[Places, ...]
    """Where in `wider` each row stands, and the ones before, after, two before and two after."""
    place: Places
    """Where in `wider` each row of the namespace stands, and 0 (nowhere) for the others."""

    def part(self, column: NDArray[Any]) -> NDArray[Any]:
        """The column's values for `wider`, and 0 for nowhere."""
        values = column.take(self.wider)
        values[0] = 0
        return values


class _Sessions(NamedTuple):
    """The different sessions of some rows."""

    codes: NDArray[np.intp]
    """The index's number of each; the number of all its sessions stands for none."""
    of: NDArray[np.int32]
    """Which of them each row belongs to."""
    lone: NDArray[np.bool_]
    """Which rows belong to none."""


def features(index: Index, question: Question, evidence: Evidence, rows: Rows, around: Around) -> dict[str, Floats]:
    """Each feature of these rows, by its name; one that the question does not touch is left out, and 0 for all."""
    columns, sessions = index.columns, _sessions(index, rows)
    flags, length = columns.flags.take(rows), columns.length.take(rows)
    own, lone = evidence.match.take(around.places[0]), sessions.lone
    found: dict[str, NDArray[Any]] = {"lexical": evidence.lexical}
    found |= _windows(index, evidence.terms, around, sessions)
    meaning = (("dense", evidence.dense), ("cosine", evidence.cosine), ("soft", evidence.soft))
    meaning += () if evidence.late is None else tuple(zip(("late", "late_window"), evidence.late, strict=True))
    found |= {name: value for name, value in meaning if value is not None}
    found |= _neighbours(columns, evidence.match, length, around, lone)
    found["session_best"] = _session_best(own, sessions)
    found |= _people(index, question, rows, lone & (evidence.lexical > 0))
    found |= _dates(columns, question, rows)
    found |= _cues(flags, question)
    if (stated := lone & (columns.kind.take(rows) != _PASSAGE)).any():
        found["stated"] = stated
    found |= _lengths(columns.size.take(rows), length, lone)
    return {name: value.astype(np.float32, copy=False) for name, value in found.items()}


def surroundings(columns: Columns, rows: Rows) -> Around:
    """These rows and up to two places before and after them in their sessions."""
    before, after, before2, after2 = beside(columns, rows)
    wider = np.concatenate(([NOWHERE], distinct(columns.rows, rows, before, after, before2, after2)))
    place = np.zeros(columns.rows + 1, np.int32)  # the last entry stands for NOWHERE
    place[wider] = np.arange(len(wider), dtype=np.int32)
    return Around(wider, tuple(map(place.take, (rows, before, after, before2, after2))), place)


def beside(columns: Columns, rows: Rows) -> tuple[NDArray[np.int32], ...]:
    """The rows before these, after them, two before and two after, NOWHERE where there is none."""
    before, after = columns.previous.take(rows), columns.following.take(rows)
    before2, after2 = columns.previous.take(before), columns.following.take(after)
    before2[before == NOWHERE] = NOWHERE
    after2[after == NOWHERE] = NOWHERE
    return before, after, before2, after2


def _sessions(index: Index, rows: Rows) -> _Sessions:
    count, session = len(index.session_length), index.columns.session.take(rows)
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


def _windows(index: Index, terms: Sequence[Term], around: Around, sessions: _Sessions) -> dict[str, Floats]:
    """Words found in the turns around as well as in the row, and in its whole session."""
    if not terms:
        return {}
    held = np.zeros((len(around.wider), len(terms)), np.float32)
    for column, term in enumerate(terms):
        _spread(held[:, column], term, around)
    own, before, after, before2, after2 = (held.take(place, axis=0) for place in around.places)
    heard = own + np.float32(0.5) * (before + after) + np.float32(0.25) * (before2 + after2)
    weights = np.array([term.weight for term in terms], np.float32)
    window = _scaled(_weighed(heard / (heard + np.float32(1.2)), weights))
    return {
        "window": window,
        "cover": _weighed(own > 0, weights),
        "window_cover": _weighed(np.minimum(heard, 1), weights) / np.float32(max(float(weights.sum()), 1e-6)),
        "session_words": np.where(sessions.lone, window, _session_words(index, own, sessions).take(sessions.of)),
    }


def _spread(held: Floats, term: Term, around: Around) -> None:
    """Fill in how often each of the rows around holds the term; the longer of both is looked up by the shorter."""
    if len(term.rows) < _OFTEN * len(held):
        held[around.place.take(term.rows)] = term.counts
        held[0] = 0
        return
    wider = around.wider[1:].astype(np.int32)
    places = np.searchsorted(term.rows, wider)
    places[places == len(term.rows)] = 0
    found = np.flatnonzero(term.rows[places] == wider)
    held[found + 1] = term.counts[places[found]]


def _weighed(values: NDArray[Any], weights: Floats) -> Floats:
    """One weighted sum a row; unlike a matrix product it does not depend on how many rows there are."""
    return np.einsum("rt,t->r", values, weights)


def _session_words(index: Index, own: Floats, sessions: _Sessions) -> Floats:
    """BM25 of each session as one text, the best 1; 0 for none."""
    count, terms = len(sessions.codes), own.shape[1]
    cells = (sessions.of * np.int32(terms))[:, None] + np.arange(terms, dtype=np.int32)
    held = np.bincount(cells.ravel(), own.ravel(), count * terms).reshape(count, terms)
    holders = np.count_nonzero(held, axis=0)
    weights = np.log(1 + (np.maximum(0, index.extent.session_count - holders) + 0.5) / (holders + 0.5))
    lengths, mean = index.extent.session_lengths, index.extent.session_mean
    scale = 0.9 * (0.6 + 0.4 * lengths[sessions.codes] / mean)
    words = (weights * held / (held + scale[:, None])).sum(axis=1)
    return _scaled(np.where(sessions.codes == len(index.session_length), 0, words).astype(np.float32))


def _scaled(values: Floats) -> Floats:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def _neighbours(
    columns: Columns, near: Floats, length: Floats, around: Around, lone: NDArray[np.bool_]
) -> dict[str, Floats]:
    """What the turns beside match, less for a long row, whose own words should speak.

    A memory outside any session has nothing beside it, which says nothing against it: its own match stands in.
    """
    near = np.minimum(near, 1)  # a turn that a filter keeps out may match better than all that it lets pass
    asks = near * _has(around.part(columns.flags), Flag.ASKS)
    own, before, after, before2, after2 = around.places
    share = calm(length)
    found = {
        "before": near.take(before),
        "after": near.take(after),
        "two_away": near.take(before2) + near.take(after2),
        "answers": asks.take(before),
    }
    alone = near.take(own)
    return {name: share * np.where(lone, alone, beside) for name, beside in found.items()}


def calm(length: Floats) -> Floats:
    """How much of what stands beside counts for rows of so many words."""
    return np.minimum(1, 60 / np.maximum(1, length)) ** 2


def _has(flags: NDArray[np.uint16], flag: Flag) -> Floats:
    return ((flags & np.uint16(flag)) != 0).astype(np.float32)


def _session_best(match: Floats, sessions: _Sessions) -> Floats:
    best = np.zeros(len(sessions.codes), np.float32)
    np.maximum.at(best, sessions.of, match)
    return np.where(sessions.lone, match, best.take(sessions.of))


def _people(index: Index, question: Question, rows: Rows, told: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Who speaks, in view of whom the question names; what is `told` outside sessions counts as theirs."""
    speakers = index.columns.speaker.take(rows)
    named = [index.speakers[name] for name in index.speakers_named(question.words)]
    found: dict[str, NDArray[Any]] = {"speaker_named": np.isin(speakers, named) | told} if named else {}
    if (code := index.speakers.get("user")) is not None:
        user = speakers == code
        found["user"] = user = user | told if question.first_person else user
        if question.first_person:
            found["user_asks_of_self"] = user
    if (code := index.speakers.get("assistant")) is not None:
        found["assistant"] = assistant = speakers == code
        asked = {"assistant_asked_of_self": question.first_person, "assistant_asked_about": question.about_assistant}
        found |= {name: assistant for name, does in asked.items() if does}
    return found


def _dates(columns: Columns, question: Question, rows: Rows) -> dict[str, Floats]:
    if not question.spans:
        return {}
    times = columns.time.take(rows)
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
    wanted = {
        "tells_when": (Flag.TIMELY, question.when),
        "tells_amount": (Flag.COUNTS, question.amount),
        "tells_name": (Flag.NAMES, question.name),
        "is_question": (Flag.QUESTION, True),
        "asks": (Flag.ASKS, True),
        "prefers": (Flag.PREFERS, True),
    }
    return {name: _has(flags, flag) for name, (flag, does) in wanted.items() if does}


def _lengths(size: Floats, length: Floats, lone: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """How long each is. A short turn leans on those around it; what stands alone was written to stand alone."""
    size = np.maximum(1, size)
    return {
        "brief": np.where(lone, 1, np.minimum(1, length / 10)),
        "size": np.log1p(size) / 5,
        "over_60": np.maximum(0, np.log(size / 60)),
    }
