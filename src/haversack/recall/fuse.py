"""From signals over all rows to a ranking of candidates: fusion, neighbours, session, speaker, dates. Pure arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from haversack.model.times import micros
from haversack.recall.columns import NOWHERE, Columns, Flag
from haversack.recall.index import Index
from haversack.recall.question import Question
from haversack.scoring.blend import Signals, Weights
from haversack.scoring.temporal import Grain

__all__ = ["Floats", "Ranking", "rank"]

Floats = NDArray[np.float32]
_POOL = 1024
_ALL_BELOW = 4096
_SHORTEST_NAME = 3
_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Candidates, best first; equal scores stand in order of arrival."""

    rows: NDArray[np.int32]
    scores: Floats
    parts: dict[str, Floats]
    """What each signal gave each candidate, in the same order."""

    def values(self) -> Floats:
        """The parts as one row per candidate."""
        return np.stack(list(self.parts.values()), axis=1) if self.parts else np.zeros((len(self.rows), 0), np.float32)


def rank(
    index: Index,
    question: Question,
    mask: NDArray[np.bool_],
    lexical: Floats,
    cosine: Floats | None,
    *,
    signals: Signals,
    weights: Weights,
    now: int,
) -> Ranking:
    """Score the rows that `mask` lets pass and that share a word, a direction or a neighbourhood with the question.

    `now` in microseconds.
    """
    columns = index.columns
    base = _base(lexical, cosine, mask, signals)
    rows = _pool(base, mask, columns)
    parts = _relevance_parts(index, question, base, rows, signals)
    relevance = np.stack(list(parts.values())).sum(axis=0, dtype=np.float32)
    found = relevance > 0
    rows, relevance = rows[found], relevance[found]
    parts = {name: part[found] for name, part in parts.items()}
    calm = relevance / (relevance + np.float32(1.0))
    parts["importance"] = weights.importance * columns.importance[rows]
    parts["recency"] = np.float32(weights.recency) * _recency(columns, rows, weights, now)
    total = weights.relevance + weights.importance + weights.recency
    scores = (weights.relevance * calm + parts["importance"] + parts["recency"]) / np.float32(total)
    order = np.lexsort((columns.born[rows], -scores))
    return Ranking(
        rows=rows[order].astype(np.int32),
        scores=scores[order].astype(np.float32),
        parts={name: part[order] for name, part in parts.items()},
    )


def _base(lexical: Floats, cosine: Floats | None, mask: NDArray[np.bool_], signals: Signals) -> Floats:
    top = float(np.max(lexical, where=mask, initial=0.0))
    share = signals.lexical + (signals.dense if cosine is None else 0.0)
    base = lexical * np.float32(share / top) if top > 0 else np.zeros_like(lexical)
    if cosine is not None:
        best = float(np.max(cosine, where=mask, initial=0.0))
        if best > 0:
            base += np.maximum(cosine, 0) * np.float32(signals.dense / best)
    return base


def _pool(base: Floats, mask: NDArray[np.bool_], columns: Columns) -> NDArray[np.int64]:
    """Rows worth a closer look: all of a small namespace, else the best ones and those beside them."""
    if len(base) <= _ALL_BELOW:
        return np.flatnonzero(mask)
    masked = base * mask
    best = np.argpartition(masked, len(base) - _POOL)[-_POOL:]
    best = best[masked[best] > 0]
    before, after = columns.previous[best], columns.following[best]
    around = [best, before, after, columns.previous[before], columns.following[after]]
    pool = np.unique(np.concatenate(around))
    pool = pool[pool != NOWHERE]
    return pool[mask[pool]].astype(np.int64)


def _relevance_parts(
    index: Index, question: Question, base: Floats, rows: NDArray[np.int64], signals: Signals
) -> dict[str, Floats]:
    columns = index.columns
    parts = {"match": base[rows]}
    beside, near = _neighbours(columns, base, rows)
    damp = np.minimum(1, 60 / np.maximum(1, columns.length[rows])) ** 2
    parts["neighbours"] = (damp * (signals.beside * beside + signals.near * near)).astype(np.float32)
    parts["session"] = signals.session * _session_best(columns, base, rows)
    parts["speaker"] = signals.speaker * _speaks(index, question, rows)
    parts["date"] = _dated(columns, question, rows, signals)
    flags = columns.flags[rows]
    parts["question"] = signals.question * ((flags & np.uint8(Flag.QUESTION)) != 0)
    if question.when:
        parts["timely"] = signals.timely * ((flags & np.uint8(Flag.TIMELY)) != 0)
    return {name: part.astype(np.float32) for name, part in parts.items()}


def _neighbours(columns: Columns, base: Floats, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    live = base * ((columns.flags & np.uint8(Flag.PRESENT | Flag.DELETED)) == Flag.PRESENT)
    padded = np.append(live, np.float32(0))  # row NOWHERE reads the last
    previous, following = np.append(columns.previous, NOWHERE), np.append(columns.following, NOWHERE)
    before, after = previous[rows], following[rows]
    return padded[before] + padded[after], padded[previous[before]] + padded[following[after]]


def _session_best(columns: Columns, base: Floats, rows: NDArray[np.int64]) -> Floats:
    sessions = columns.session[rows]
    best = np.zeros(int(sessions.max(initial=0)) + 2, np.float32)
    np.maximum.at(best, sessions, base[rows])
    best[NOWHERE] = 0
    return best[sessions]


def _speaks(index: Index, question: Question, rows: NDArray[np.int64]) -> Floats:
    codes = [code for name, code in index.speakers.items() if _named(name, question)]
    return np.isin(index.columns.speaker[rows], codes).astype(np.float32)


def _named(speaker: str, question: Question) -> bool:
    name = speaker.casefold()
    if name == "user":
        return question.first_person
    return name in question.words or any(
        len(word) >= _SHORTEST_NAME and word in question.words for word in name.split()[:1]
    )


def _dated(columns: Columns, question: Question, rows: NDArray[np.int64], signals: Signals) -> Floats:
    bonus = np.zeros(len(rows), np.float32)
    times = columns.time[rows]
    for span in question.spans:
        within = (times >= micros(span.start)) & (times < micros(span.end))
        gain = signals.day if span.grain is Grain.DAY else signals.month
        bonus = np.maximum(bonus, within * np.float32(gain))
    return bonus


def _recency(columns: Columns, rows: NDArray[np.int64], weights: Weights, now: int) -> Floats:
    days = np.maximum(0, now - columns.time[rows]) / (24 * _HOUR)
    if weights.linear:
        return np.maximum(0, 1 - days / weights.recency_days).astype(np.float32)
    return np.exp2(-days / weights.recency_days).astype(np.float32)
