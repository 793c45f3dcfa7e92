"""From signals over all rows to a ranking: fusion, the pool worth a closer look, its features, their weighing. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import AskedWords, Vectors, WordVectors
from haversack.model.times import from_micros, micros
from haversack.recall.clues import clues_of, relevances
from haversack.recall.columns import Columns
from haversack.recall.entities import lift
from haversack.recall.features import Around, Evidence, beside, distinct, features, surroundings
from haversack.recall.figured import figured
from haversack.recall.index import Index
from haversack.recall.late import late_match
from haversack.recall.lexical import Term, bm25, find_terms
from haversack.recall.nearest import best
from haversack.recall.priors import priors
from haversack.recall.question import Question, read
from haversack.recall.ranking import LATEST, MOST_SIBLINGS, Prior, Ranking, measure
from haversack.recall.rows import MemoriesOf
from haversack.recall.soft import soft_match
from haversack.recall.succession import MOST_NEWER, newer, order_in_time, taken_up
from haversack.recall.vector import cosines
from haversack.recall.verbatim import verbatim
from haversack.scoring.answered import Clues
from haversack.scoring.blend import LEXICAL, Learned, Traits, Weights, length_trait
from haversack.scoring.signals import GROUPS, slope
from haversack.scoring.temporal import Grain

__all__ = ["Floats", "Grasp", "Pool", "gather", "rank", "traits_of", "understand", "weigh"]

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
_POOL = 512
_ALL_BELOW = 2048
_LED = 256
"""Candidates that entities alone may lead to, of a large namespace."""
_CLOSER = 400
"""Candidates whose words are compared one by one."""
_DAY = 86_400_000_000.0
_SIBLING = 1.0
"""Log-odds that each better chunk of the same text takes from the next one, up to MOST_SIBLINGS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grasp:
    """What is understood of one question before any filter narrows the rows."""

    question: Question
    terms: list[Term]
    lexical: Floats
    """BM25 of every row."""
    cosine: Floats | None
    """Of every row, not below 0; None without vectors."""
    asked: AskedWords | None
    """The words of the question, from an embedder that reads them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Candidates, in order of rows, and their features."""

    rows: NDArray[np.int64]
    features: dict[str, Floats]
    """One that is not there is 0 for all."""
    sensed: Mask
    """Which have a vector that the question's was compared with; the others are known by their words alone."""
    lifted: Floats | None = None
    """How much entities speak for each; None where they speak for none."""
    verbatim: Mask | None = None
    """Which say the question word for word; None where none does."""
    figured: Floats | None = None
    """The share of the question's numbers and codes that each holds; None where it names none that any holds."""
    clues: Clues | None = None
    """On whether there is an answer; None where the question does not tell what it is about."""


def understand(
    index: Index, query: str, vector: Vectors | None, now: datetime, asked: AskedWords | None = None
) -> Grasp:
    """The question against all rows, before any filter."""
    question = read(query, now, from_micros(index.extent.earliest))
    terms = find_terms(index, question.keys)
    cosine = None if vector is None else cosines(index.columns, vector)
    if cosine is not None:
        np.maximum(cosine, 0, out=cosine)
    return Grasp(question=question, terms=terms, lexical=bm25(index, terms), cosine=cosine, asked=asked)


def gather(
    index: Index,
    grasp: Grasp,
    masks: Sequence[Mask],
    vocabulary: WordVectors | None,
    memories_of: MemoriesOf | None = None,
) -> Pool:
    """The rows that any mask lets pass and that anything connects with the question, with their features."""
    columns, mask = index.columns, masks[0] if len(masks) == 1 else np.logical_or.reduce(masks)
    scale = _Scale(_top(grasp.lexical, mask), 0.0 if grasp.cosine is None else _top(grasp.cosine, mask))
    rows = np.flatnonzero(mask) if index.present <= _ALL_BELOW else _pool(index, grasp, scale, mask, masks)
    lifted = None
    if memories_of is not None and len(index.names):
        rows, lifted = _lifted(index, grasp, scale, rows, mask, memories_of)
    around = surroundings(columns, rows)
    lexical = scale.words(around.part(grasp.lexical))
    cosine = None if grasp.cosine is None else around.part(grasp.cosine)
    sensed = around.part(columns.scale) > 0
    dense = None if cosine is None else np.where(sensed, scale.meaning(cosine), lexical)
    match = lexical if dense is None else np.float32(0.5) * (lexical + dense)
    own, near = around.places[0], _promising(columns, rows, around, match)
    late, heard = _late(index, grasp, rows, near, around)
    soft, match, softest = _soften(index, grasp.question, rows, near, around, match, vocabulary)
    evidence = Evidence(
        terms=grasp.terms,
        lexical=lexical.take(own),
        cosine=None if cosine is None else np.minimum(cosine.take(own), 1),  # rounding passes 1
        dense=None if dense is None else dense.take(own),
        soft=soft,
        late=late,
        match=match,
    )
    found = features(index, grasp.question, evidence, rows, around)
    clues = clues_of(index, grasp.question, grasp.terms, found, soft=softest, late=heard)
    sensed = np.zeros(len(rows), np.bool_) if cosine is None else sensed.take(own)
    same = None if memories_of is None else verbatim(index, grasp.question, grasp.terms, rows, memories_of)
    figures = figured(index, grasp.question, rows)
    pool = Pool(
        rows=rows,
        features=found,
        sensed=sensed,
        lifted=lifted,
        verbatim=same,
        figured=figures,
        clues=clues,
    )
    return _connected(pool, match.take(own), timed=bool(grasp.question.spans))


def weigh(pool: Pool, learned: Learned, traits: Traits) -> dict[str, Floats]:
    """What each group of signals adds to the log-odds of use; they start at `learned.shift`."""
    parts = {group: np.zeros(len(pool.rows), np.float32) for group in dict.fromkeys(GROUPS.values())}
    for name in learned.weights:
        weight = slope(learned, name, traits)
        if weight and name in pool.features:
            parts[GROUPS[name]] += np.float32(weight) * pool.features[name]
    return parts


def traits_of(index: Index) -> Traits:
    """What the weights depend on."""
    return Traits(length=length_trait(index.mean_size), roles=index.role_share)


def rank(
    index: Index,
    pool: Pool,
    learned: Learned,
    weights: Weights,
    *,
    now: int,
    latest: bool,
    exact: bool = False,
    by_words: Learned = LEXICAL,
) -> Ranking:
    """The pool with its scores. `now` in microseconds; `latest`: the question asks for the newest word.

    `exact`: it names a number or a time, so that the statement which has it is wanted, whatever was said later.
    `by_words` are the weights for what has no vector.
    """
    columns, rows = index.columns, pool.rows
    learned, traits = learned if pool.sensed.any() else by_words, traits_of(index)
    odds, parts = _odds(pool, learned, by_words, traits)
    most = odds.max(initial=-np.inf)  # no shift makes others less relevant
    shifts = list(priors(index, rows, pool.features["lexical"], pool.lifted, pool.verbatim, pool.figured))
    for _, prior, signal in shifts:
        odds += np.float32(prior.weight) * (signal - np.float32(prior.usual))
    parts["siblings"] = _siblings(odds, columns.turn.take(rows), columns.born.take(rows))
    odds += parts["siblings"]
    latest = latest and weights.prior  # an average is made of what its parts say
    stated = pool.features.get("stated", np.zeros(len(rows), np.float32)) > 0
    if weights.prior and not exact:
        shifts += _raised_by_time(index, pool, odds, stated, latest=latest)
    importance = columns.importance.take(rows)
    recency = order_in_time(columns, rows, odds, stated) if latest else _recency(columns, rows, weights, now)
    if weights.prior:
        raised = np.float32(weights.importance) * (importance - np.float32(0.5))
        scores = 1 / (1 + np.exp(-(odds + raised + np.float32(LATEST if latest else weights.recency) * recency)))
    else:
        parts["relevance"] = stretched = _stretched(odds)
        shares = weights.shares
        scores = shares["relevance"] * stretched + shares["importance"] * importance + shares["recency"] * recency
    parts |= {name: signal for name, _, signal in shifts} | {"importance": importance, "recency": recency}
    told = tuple((name, prior) for name, prior, _ in shifts)
    return Ranking(
        rows=rows,
        scores=scores.astype(np.float32, copy=False),
        relevance=relevances(np.minimum(odds, most), pool.clues, learned, pool.verbatim),
        parts={name: part.astype(np.float32, copy=False) for name, part in parts.items()},
        measures=(
            measure(learned, traits, weights, told, latest=latest),
            measure(by_words, traits, weights, told, latest=latest),
        ),
        worded=None if pool.sensed.all() else ~pool.sensed,
    )


def _raised_by_time(
    index: Index, pool: Pool, odds: Floats, stated: Mask, *, latest: bool
) -> Iterator[tuple[str, Prior, Floats]]:
    """Raise the odds of what says later what another statement said, and tell how; nothing where nothing does."""
    later = newer(index.columns, pool.rows, odds, pool.features["lexical"], stated, latest=latest)
    if later is not None:
        odds += later
    following = taken_up(index, pool.rows, odds, stated) if latest else None
    if following is not None:
        odds += following
    gains = [each for each in (later, following) if each is not None]
    if gains:
        yield "newer", Prior(weight=2 * MOST_NEWER), np.stack(gains).sum(axis=0) / np.float32(2 * MOST_NEWER)


def _odds(pool: Pool, learned: Learned, words: Learned, traits: Traits) -> tuple[Floats, dict[str, Floats]]:
    """Log-odds of use and their parts; what has no vector is judged as if there were none at all."""
    parts = weigh(pool, learned, traits)
    shift = np.full(len(pool.rows), learned.shift, np.float32)
    unsensed = np.flatnonzero(~pool.sensed)
    if len(unsensed) and learned is not words:
        by_words = weigh(pool, words, traits)
        shift[unsensed] = words.shift
        for group, part in parts.items():
            part[unsensed] = by_words[group][unsensed]
    return np.stack(list(parts.values())).sum(axis=0, dtype=np.float32) + shift, parts


def _top(values: Floats, mask: Mask) -> float:
    return float(_under(values, mask).max(initial=0.0))


def _under(values: Floats, mask: Mask) -> Floats:
    """The values that the mask lets pass, 0 for the others."""
    return values if mask.all() else np.where(mask, values, np.float32(0))


class _Scale(NamedTuple):
    """What words and vectors reach at best among the allowed rows: they are measured against it."""

    lexical: float
    cosine: float

    def words(self, lexical: Floats) -> Floats:
        """BM25, the best allowed row 1."""
        return lexical / np.float32(self.lexical) if self.lexical else lexical

    def meaning(self, cosine: Floats) -> Floats:
        """The same for cosines."""
        return cosine / np.float32(self.cosine) if self.cosine else cosine


def _pool(index: Index, grasp: Grasp, scale: _Scale, mask: Mask, masks: Sequence[Mask]) -> NDArray[np.int64]:
    """The best rows of a large namespace under each mask, and those beside them."""
    match = scale.words(grasp.lexical)
    if grasp.cosine is not None:
        dense = scale.meaning(grasp.cosine)
        match = match + (np.where(index.columns.scale > 0, dense, match) if index.extent.senseless else dense)
    found: list[NDArray[np.integer[Any]]] = []
    for each in masks:
        allowed = _under(match, each)
        near = best(allowed, index.columns.born, _POOL)
        near = near[allowed[near] > 0]
        found += (near, *beside(index.columns, near))
    if grasp.question.spans:
        then = _then(index, grasp.question)
        found += [_closest(match, index.columns.born, np.flatnonzero(each & then)) for each in masks]
    pool = distinct(len(match), *found)
    return pool[mask[pool]]


def _then(index: Index, question: Question) -> Mask:
    """Rows of the days and months that the question names, whatever they say."""
    time = index.columns.time
    near = ((micros(span.start), micros(span.end)) for span in question.spans if span.grain is not Grain.YEAR)
    edges: list[int] = []
    for start, end in sorted(near):
        if edges and start <= edges[-1]:
            edges[-1] = max(edges[-1], end)
        else:
            edges += (start, end)
    return np.searchsorted(np.array(edges, np.int64), time, side="right") % 2 == 1


def _closest(match: Floats, born: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the rows that match best, and of equals the later ones, no more than a pool holds."""
    return rows[np.lexsort((-born[rows], -match[rows]))[:_POOL]] if len(rows) > _POOL else rows


def _connected(pool: Pool, match: Floats, *, timed: bool) -> Pool:
    """Those that anything connects with the question, which names a time when it is `timed`."""
    found, lifted = pool.features, pool.lifted
    connected = (match > 0) | (found["before"] + found["after"] + found["session_best"] > 0)
    if timed:
        connected |= _told_then(found, alone=not connected.any())
    if lifted is not None:
        connected |= lifted > 0
    if connected.all():
        return pool
    kept = np.flatnonzero(connected)  # places select ten times faster than a mask
    return Pool(
        rows=pool.rows[kept],
        features={name: value[kept] for name, value in found.items()},
        sensed=pool.sensed[kept],
        lifted=None if lifted is None else lifted[kept],
        verbatim=None if pool.verbatim is None else pool.verbatim[kept],
        figured=None if pool.figured is None else pool.figured[kept],
        clues=pool.clues,
    )


def _told_then(found: dict[str, Floats], *, alone: bool) -> Mask:
    """What is from a day or month that the question names answers it without a word of it; from a year, `alone`."""
    near = (found["on_day"] + found["in_month"]) > 0
    return found["in_year"] > 0 if alone and not near.any() else near


def _lifted(
    index: Index, grasp: Grasp, scale: _Scale, rows: NDArray[np.int64], mask: Mask, memories_of: MemoriesOf
) -> tuple[NDArray[np.int64], Floats | None]:
    """The candidates, with those that entities alone lead to, and how much entities speak for each."""
    match = scale.words(grasp.lexical.take(rows))
    if grasp.cosine is not None:
        dense = scale.meaning(grasp.cosine.take(rows))
        match = np.float32(0.5) * (match + np.where(index.columns.scale.take(rows) > 0, dense, match))
    lifted = lift(index, grasp.question.text, rows, match, memories_of)
    if lifted is None:
        return rows, None
    lifted = _under(lifted, mask)
    led = best(lifted, index.columns.born, _LED)
    rows = distinct(len(lifted), rows, led[lifted[led] > 0])
    return rows, lifted[rows]


def _promising(columns: Columns, rows: NDArray[np.int64], around: Around, match: Floats) -> NDArray[np.intp]:
    """Places of the rows that are worth a look at their words."""
    own, before, after = around.places[:3]
    promise = match.take(own) + np.float32(0.2) * (match.take(before) + match.take(after))
    return best(promise.astype(np.float32, copy=False), columns.born.take(rows), _CLOSER)


def _soften(
    index: Index,
    question: Question,
    rows: NDArray[np.int64],
    near: NDArray[np.intp],
    around: Around,
    match: Floats,
    vocabulary: WordVectors | None,
) -> tuple[Floats | None, Floats, float]:
    """Soft matches of the rows, the match around with them in it (seven parts of ten the old one), the nearest's."""
    if vocabulary is None or not len(rows):
        return None, match, 0.0
    likeness = soft_match(index, vocabulary, question, rows[near])
    soft = _raised(likeness, near, len(rows))
    if soft is not None:
        match = np.float32(0.7) * match
        match[around.places[0]] += np.float32(0.3) * soft
    return soft, match, float(likeness.max(initial=0.0))


def _late(
    index: Index, grasp: Grasp, rows: NDArray[np.int64], near: NDArray[np.intp], around: Around
) -> tuple[tuple[Floats, Floats] | None, float]:
    """Late interaction with the rows, alone and with the turns around them, and how near the latter come at best."""
    if grasp.asked is None or not len(rows):
        return None, 0.0
    found = late_match(index, grasp.asked, grasp.question, rows, near, around)
    if found is None:
        return None, 0.0
    alone, heard = (_raised(likeness, near, len(rows)) for likeness in found)
    return None if alone is None or heard is None else (alone, heard), float(found[1].max(initial=0.0))


def _raised(likeness: Floats, near: NDArray[np.intp], count: int) -> Floats | None:
    """What stands above the ordinary, the best 1, at its places among `count`; None where nothing does."""
    above = np.maximum(0, likeness - np.partition(likeness, len(near) // 2)[len(near) // 2])
    top = float(above.max(initial=0.0))
    if not top:
        return None
    raised = np.zeros(count, np.float32)
    raised[near] = above / np.float32(top)
    return raised


def _siblings(odds: Floats, turns: NDArray[np.uint64], born: NDArray[np.int64]) -> Floats:
    """What the second and later chunks of one text lose: another text tells more than another piece of it."""
    lost = np.zeros(len(odds), np.float32)
    chunks = np.flatnonzero(turns)
    if len(chunks):
        order = chunks[np.lexsort((born[chunks], -odds[chunks], turns[chunks]))]
        fresh = np.append(np.True_, turns[order][1:] != turns[order][:-1])
        first = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
        lost[order] = -np.minimum(np.float32(_SIBLING) * (np.arange(len(order)) - first), np.float32(MOST_SIBLINGS))
    return lost


def _stretched(odds: Floats) -> Floats:
    low, high = odds.min(initial=np.inf), odds.max(initial=-np.inf)
    return ((odds - low) / (high - low)).astype(np.float32) if high > low else np.ones_like(odds)


def _recency(columns: Columns, rows: NDArray[np.int64], weights: Weights, now: int) -> Floats:
    days = np.maximum(0, now - columns.time.take(rows)) / _DAY
    if weights.linear:
        return np.maximum(0, 1 - days / weights.recency_days).astype(np.float32)
    return np.exp2(-days / weights.recency_days).astype(np.float32)
