"""What some namespaces hold at one moment: all that one call asks of recall it asks of one view."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import time as clock
from typing import cast

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import AskedWords, Vectors, WordVectors
from haversack.model.memory import Json, Memory
from haversack.model.query import Filter
from haversack.model.times import EPOCH, micros
from haversack.recall.columns import Flag
from haversack.recall.facets import field_key, is_filed_exactly
from haversack.recall.filtering import Mask, allowed
from haversack.recall.fuse import gather, rank, understand
from haversack.recall.hits import Hit, Standing
from haversack.recall.index import Index
from haversack.recall.nearest import nearest
from haversack.recall.question import checked_top_k
from haversack.recall.ranking import Measure, Ranking
from haversack.recall.rows import Rows
from haversack.scoring.blend import Learned, Weights
from haversack.scoring.signals import NOTHING, Formula

__all__ = ["Asked", "IndexView", "View"]

_DAY = 86_400_000_000
"""In microseconds."""
_LISTED = Measure(formula=Formula(weights={"importance": 0.5, "pinned": 0.5}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One checked query."""

    query: str
    vector: Vectors | None
    words: AskedWords | None
    now: datetime
    weights: Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexView:
    """One namespace's index at one change number, and its memories."""

    namespace: str
    index: Index
    rows: Rows
    behind: int = 0
    """Changes that the store acknowledged and the index does not have yet."""

    def memories(self, rows: Sequence[int]) -> list[Memory | None]:
        """The memories of these rows of the index; None for one that was erased meanwhile."""
        return self.rows.get([self.index.ids[row] for row in rows])

    def hits(self, ranking: Ranking, chosen: Filter, now: datetime) -> list[Hit]:
        """The ranked rows with their memories; those that passed the filter once and now do not are left out."""
        memories = self.memories(cast("list[int]", ranking.rows.tolist()))
        namespace, names = self.namespace, list(ranking.parts)
        return [
            Hit(
                memory=memory,
                namespace=namespace,
                score=score,
                relevance=relevance,
                parts=dict(zip(names, parts)),  # noqa: B905 - ten columns each
                formula=formula,
            )
            for memory, score, relevance, parts, formula in zip(
                memories,
                ranking.scores.tolist(),
                ranking.relevance.tolist(),
                ranking.signals().tolist(),
                ranking.formulas(),
                strict=True,
            )
            if memory is not None and (not self.behind or chosen.reason_against(memory, now) is None)
        ]

    def mask(self, filter: Filter, now: datetime) -> Mask:  # noqa: A002
        """Which rows the filter lets pass."""
        mask = allowed(self.index, filter, now)
        if all(is_filed_exactly(value) for _, value in filter.where):
            return mask
        rows = np.flatnonzero(mask).tolist()
        for row, memory in zip(rows, self.memories(rows), strict=True):
            mask[row] = memory is not None and filter.reason_against(memory, now) is None
        return mask

    def vector(self, vector: Vectors | None) -> Vectors | None:
        """The vector, if it can be compared with those that are here."""
        return vector if vector is not None and len(vector) == self.index.columns.dimension else None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Namespaces, each at one moment. Any thread may ask; no answer waits for a writer or for another reader."""

    parts: tuple[IndexView, ...]
    learned: Learned
    """The weights for what the embedder tells."""
    vocabulary: WordVectors | None

    @property
    def behind(self) -> int:
        """Changes that the store acknowledged and these indexes do not have yet: 0 but shortly after a load."""
        return sum(part.behind for part in self.parts)

    def search(self, asked: Asked, filter: Filter = Filter(), *, top_k: int) -> list[Hit]:  # noqa: A002, B008
        """The `top_k` best memories that pass the filter, best first."""
        return self.search_each(asked, [filter], top_k=top_k)[0]

    def search_each(self, asked: Asked, filters: Sequence[Filter], *, top_k: int) -> list[list[Hit]]:
        """The same for several filters at once: their candidates are scored together, so that scores compare."""
        limit = checked_top_k(top_k)
        found: list[list[Hit]] = [[] for _ in filters]
        for part in self.parts if limit else ():
            masks = [part.mask(each, asked.now) for each in filters]
            rankings = self._rank(part, asked, masks, limit)
            for hits, chosen, ranking in zip(found, filters, rankings, strict=True):
                hits.extend(part.hits(ranking, chosen, asked.now))
        if len(self.parts) == 1:
            return found
        return [heapq.nsmallest(limit, hits, key=lambda hit: -hit.score) for hits in found]

    def explain(self, asked: Asked, filter: Filter, memory_id: str) -> Standing | None:  # noqa: A002
        """Where a memory stands among all candidates of its namespace, or why it is none; None if it does not exist."""
        for part in self.parts:
            (memory,) = part.rows.get([memory_id])
            if memory is not None:
                (ranking,) = self._rank(part, asked, [part.mask(filter, asked.now)], None)
                return _standing(ranking, part.index.row_of(memory_id), filter.reason_against(memory, asked.now))
        return None

    def listing(
        self,
        filter: Filter = Filter(),  # noqa: A002, B008
        *,
        now: datetime,
        top_k: int,
        pinned: bool = False,
    ) -> list[Hit]:
        """What passes the filter, with no query: pinned first, then by importance, then newest; or pinned ones only."""
        limit = checked_top_k(top_k)
        hits: list[Hit] = []
        for part in self.parts:
            if part.index.extent.pinned or not pinned:
                ranking = _listed(part.index, part.mask(filter, now), limit, only_pinned=pinned)
                hits += part.hits(ranking, filter, now)
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Those that exist, in the order asked."""
        (rows,) = (part.rows for part in self.parts if part.namespace == namespace)
        return [memory for memory in rows.get(ids) if memory is not None]

    def timeline(
        self,
        filter: Filter,  # noqa: A002
        *,
        now: datetime,
        skip: int,
        top_k: int,
    ) -> tuple[list[str], dict[int, int]]:
        """Ids of what passes the filter, newest first, behind the first `skip`; and how many there are, by day number.

        Days count from the epoch and begin in `now`'s own time zone. Of one namespace.
        """
        (part,) = self.parts
        columns, rows = part.index.columns, np.flatnonzero(part.mask(filter, now))
        order = np.lexsort((-columns.born[rows], -columns.time[rows]))[skip : skip + top_k]
        days, counts = np.unique(_days(columns.time[rows], now.tzinfo or UTC), return_counts=True)
        return [part.index.ids[row] for row in rows[order].tolist()], dict(
            zip(days.tolist(), counts.tolist(), strict=True)
        )

    def by_claim(self, *, now: datetime, top_k: int, least: float, half_life: timedelta) -> tuple[list[str], int]:
        """Return ids of the live memories of the highest claim, best first, and how many there are; of one namespace.

        A memory's claim is its importance, halved for every `half_life` since it was said; a faded one's counts half.
        """
        (part,) = self.parts
        columns, rows = part.index.columns, np.flatnonzero(part.mask(Filter(), now))
        rows = rows[columns.importance[rows] >= np.float32(least)]
        ages = np.maximum(0, micros(now) - columns.time[rows]) / (half_life / timedelta(microseconds=1))
        order = np.lexsort((columns.born[rows], -columns.importance[rows] * np.exp2(-ages)))[:top_k]
        return [part.index.ids[row] for row in rows[order].tolist()], len(rows)

    def nearest(
        self,
        text: str,
        vector: Vectors | None,
        *,
        filter: Filter,  # noqa: A002
        now: datetime,
        top_k: int,
    ) -> list[tuple[Memory, float]]:
        """The memories most like a text, with their likeness (0 to 1), whatever answers a question; of one namespace.

        Cosines with `vector`, the text's embedding; without one, the share of its telling words.
        """
        (part,) = self.parts
        rows, scores = nearest(part.index, part.mask(filter, now), text, part.vector(vector), top_k)
        found = part.memories(cast("list[int]", rows.tolist()))
        return [(one, score) for one, score in zip(found, scores.tolist(), strict=True) if one is not None]

    def filed(self, field: str, value: Json, *, after: datetime | None = None) -> list[str]:
        """Ids of all memories whose metadata field has that value, also of those that ended, oldest first.

        With `after`, without those that end by then.
        """
        (part,) = self.parts
        rows, _ = part.index.holders(part.index.facets, field_key(field, value))
        if after is not None:
            rows = rows[part.index.columns.valid_to[rows] > micros(after)]
        return [part.index.ids[row] for row in rows.tolist()]

    def _rank(self, part: IndexView, asked: Asked, masks: Sequence[Mask], limit: int | None) -> list[Ranking]:
        """The best `limit` candidates under each mask."""
        index, vector = part.index, part.vector(asked.vector)
        if asked.weights.likeness:
            found = [nearest(index, mask, asked.query, vector, limit) for mask in masks]
            told = "words" if vector is None else "meaning"
            return [_likened(rows, np.minimum(like, 1), told) for rows, like in found]
        if not index.present or not masks:
            none = np.zeros(0, np.float32)
            return [Ranking(rows=np.zeros(0, np.int64), scores=none, relevance=none) for _ in masks]
        grasp = understand(index, asked.query, vector, asked.now, asked.words)
        pool = gather(index, grasp, masks, self.vocabulary, part.memories)
        latest, exact = grasp.question.latest, grasp.question.exact
        ranking = rank(index, pool, self.learned, asked.weights, now=micros(asked.now), latest=latest, exact=exact)
        return [ranking.first(index.columns.born, mask, limit) for mask in masks]


def _days(times: NDArray[np.int64], zone: tzinfo) -> NDArray[np.int64]:
    """The day of each time, counted from the epoch; days begin in the zone."""
    utc = np.unique(times // _DAY)
    days = np.unique(np.concatenate([utc - 1, utc, utc + 1]))  # no zone is a day from UTC
    starts = [micros(datetime.combine(EPOCH.date() + timedelta(days=day), clock(), zone)) for day in days.tolist()]
    return days[np.searchsorted(np.array(starts, np.int64), times, side="right") - 1]


def _listed(index: Index, mask: Mask, limit: int, *, only_pinned: bool) -> Ranking:
    columns = index.columns
    pinned = (columns.flags & np.uint8(Flag.PINNED)) != 0
    rows = np.flatnonzero(mask & pinned if only_pinned else mask)
    score = np.minimum(1.0, columns.importance[rows] / 2 + 0.5 * pinned[rows])
    order = np.lexsort((-columns.born[rows], -columns.time[rows], -score))[:limit]
    rows = rows[order].astype(np.int64)
    parts = {"importance": columns.importance[rows], "pinned": pinned[rows].astype(np.float32)}
    return Ranking(
        rows=rows,
        scores=score[order].astype(np.float32),
        relevance=np.zeros(len(rows), np.float32),
        parts=parts,
        measures=(_LISTED, _LISTED),
    )


def _likened(rows: NDArray[np.intp], like: NDArray[np.float32], name: str) -> Ranking:
    told = Measure(formula=Formula(weights={name: 1.0}))
    return Ranking(rows=rows, scores=like, relevance=like, parts={name: like}, measures=(told, told))


def _standing(ranking: Ranking, row: int | None, reason: str | None) -> Standing:
    found = np.flatnonzero(ranking.rows == (-1 if row is None else row)).tolist()
    if not found:
        out = reason or "unrelated"
        return Standing(
            rank=None, score=0.0, relevance=0.0, parts={}, formula=NOTHING, reason=out, candidates=len(ranking.rows)
        )
    return Standing(
        rank=found[0] + 1,
        score=float(ranking.scores[found[0]]),
        relevance=float(ranking.relevance[found[0]]),
        parts=dict(zip(ranking.parts, ranking.signals()[found[0]].tolist(), strict=True)),
        formula=ranking.formulas()[found[0]],
        reason=None,
        candidates=len(ranking.rows),
    )
