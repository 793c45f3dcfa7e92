"""Recall over a store: keeps one index per namespace, fresh and bounded, and answers queries from it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import numpy as np
from numpy.typing import NDArray

from haversack.embed.codec import embed_stored
from haversack.embed.embedder import AskedWords, Embedder, Vectors, WordVectors, has_signs, has_words
from haversack.embed.lapse import WordsAlone
from haversack.embed.static import StaticEmbedder
from haversack.model.memory import Json, Memory
from haversack.model.query import Filter
from haversack.model.times import micros
from haversack.recall.columns import Flag
from haversack.recall.filtering import Mask, allowed
from haversack.recall.fuse import gather, rank, understand
from haversack.recall.hits import Hit, Standing
from haversack.recall.index import Index, field_key, indexed_text, is_filed_exactly
from haversack.recall.nearest import nearest
from haversack.recall.question import checked_query, checked_top_k
from haversack.recall.ranking import Measure, Ranking
from haversack.recall.shelf import Shelf, Slot
from haversack.scoring.blend import DEFAULT, LATE, LEXICAL, SENTENCE, STATIC, Learned, Weights
from haversack.scoring.signals import NOTHING, Formula
from haversack.store.port import Batch, Store, Vector

__all__ = ["Recall", "RecallOptions"]

_DAY = 86_400_000_000
"""In microseconds."""
_DEFAULT_LIMIT = 2_000_000_000
_LISTED = Measure(formula=Formula(weights={"importance": 0.5, "pinned": 0.5}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How recall scores."""

    weights: Weights = DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One checked query."""

    query: str
    vector: Vectors | None
    words: AskedWords | None
    now: datetime
    weights: Weights


class Recall:
    """One per open store; safe for threads.

    Every read first asks the store for the namespace's change sequence and takes in what came after the last look,
    so a write by any process is seen by the next search. A namespace's statistics never touch another's. `words` allows
    soft matching of single words; the embedders that ship bring them along.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None = None,
        *,
        words: WordVectors | None = None,
        limit_bytes: int = _DEFAULT_LIMIT,
        options: RecallOptions = RecallOptions(),
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._reader = embedder if has_signs(embedder) else None
        self._words = embedder.words if words is None and has_words(embedder) else words
        self._learned = _learned(embedder)
        self._options = options
        self._whole = Shelf(store, embedder, self._words, limit_bytes)
        self._wordy = Shelf(store, None, self._words, limit_bytes)
        self._dimension: int | None = None
        self._asked_for_it = False

    def search(
        self,
        namespaces: Sequence[str],
        query: str,
        *,
        filter: Filter = Filter(),  # noqa: A002, B008
        now: datetime,
        top_k: int,
        weights: Weights | None = None,
    ) -> list[Hit]:
        """The `top_k` best memories that pass the filter, best first.

        Raises QueryError for a blank query and InputError for a negative `top_k`, before the embedder is asked.
        """
        return self.search_each(namespaces, query, [filter], now=now, top_k=top_k, weights=weights)[0]

    def search_each(
        self,
        namespaces: Sequence[str],
        query: str,
        filters: Sequence[Filter],
        *,
        now: datetime,
        top_k: int,
        weights: Weights | None = None,
    ) -> list[list[Hit]]:
        """The same for several filters at once: their candidates are scored together, so that scores compare."""
        limit = checked_top_k(top_k)
        asked = self._asked(query, now, weights)
        found: list[list[Hit]] = [[] for _ in filters]
        for name in dict.fromkeys(namespaces) if limit else ():
            with self._shelf.fresh(name) as slot:
                masks = [self._mask(slot, each, now) for each in filters]
                for hits, ranking in zip(found, self._rank(slot, asked, masks, limit), strict=True):
                    hits.extend(_hits(slot, ranking))
        if len(namespaces) == 1:
            return found
        return [heapq.nsmallest(limit, hits, key=lambda hit: -hit.score) for hits in found]

    def explain(
        self,
        namespaces: Sequence[str],
        query: str,
        memory_id: str,
        *,
        filter: Filter = Filter(),  # noqa: A002, B008
        now: datetime,
        weights: Weights | None = None,
    ) -> Standing | None:
        """Where a memory stands among all candidates of its namespace, or why it is none; None if it does not exist."""
        asked = self._asked(query, now, weights)
        for name in dict.fromkeys(namespaces):
            memories = self._store.memories(name, [memory_id])
            if memories:
                with self._shelf.fresh(name) as slot:
                    (ranking,) = self._rank(slot, asked, [self._mask(slot, filter, now)], None)
                    return _standing(ranking, slot.index.place.get(memory_id), filter.reason_against(memories[0], now))
        return None

    def listing(
        self,
        namespaces: Sequence[str],
        *,
        filter: Filter = Filter(),  # noqa: A002, B008
        now: datetime,
        top_k: int,
        pinned: bool = False,
    ) -> list[Hit]:
        """What passes the filter, with no query: pinned first, then by importance, then newest; or pinned ones only."""
        limit = checked_top_k(top_k)
        hits: list[Hit] = []
        for name in dict.fromkeys(namespaces):
            with self._shelf.fresh(name) as slot:
                if slot.index.extent.pinned or not pinned:
                    mask = self._mask(slot, filter, now)
                    hits += _hits(slot, _listed(slot.index, mask, limit, only_pinned=pinned))
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def timeline(
        self,
        namespace: str,
        *,
        filter: Filter,  # noqa: A002
        now: datetime,
        skip: int,
        top_k: int,
    ) -> tuple[list[str], dict[int, int]]:
        """Ids of what passes the filter, newest first, behind the first `skip`; and how many there are, by day number.

        Days count from the epoch, in UTC.
        """
        with self._shelf.fresh(namespace) as slot:
            columns, rows = slot.index.columns, np.flatnonzero(self._mask(slot, filter, now))
            order = np.lexsort((-columns.born[rows], -columns.time[rows]))[skip : skip + top_k]
            days, counts = np.unique(columns.time[rows] // _DAY, return_counts=True)
            return [slot.index.ids[row] for row in rows[order].tolist()], dict(
                zip(days.tolist(), counts.tolist(), strict=True)
            )

    def by_claim(
        self, namespace: str, *, now: datetime, top_k: int, least: float, half_life: timedelta
    ) -> tuple[list[str], int]:
        """Return ids of the live memories of the highest claim, best first, and how many there are.

        A memory's claim is its importance, halved for every `half_life` since it was said; a faded one's counts half.
        """
        with self._shelf.fresh(namespace) as slot:
            columns, rows = slot.index.columns, np.flatnonzero(self._mask(slot, Filter(), now))
            rows = rows[columns.importance[rows] >= np.float32(least)]
            ages = np.maximum(0, micros(now) - columns.time[rows]) / (half_life / timedelta(microseconds=1))
            order = np.lexsort((columns.born[rows], -columns.importance[rows] * np.exp2(-ages)))[:top_k]
            return [slot.index.ids[row] for row in rows[order].tolist()], len(rows)

    def nearest(
        self,
        namespace: str,
        text: str,
        vector: Vectors | None,
        *,
        filter: Filter,  # noqa: A002
        now: datetime,
        top_k: int,
    ) -> list[tuple[Memory, float]]:
        """The memories most like a text, with their likeness (0 to 1), whatever answers a question.

        Cosines with `vector`, the text's embedding; without one, the share of its telling words.
        """
        if vector is not None:
            self._take(len(vector))
        with self._shelf.fresh(namespace) as slot:
            rows, scores = nearest(slot.index, self._mask(slot, filter, now), text, vector, top_k)
            places: list[int] = rows.tolist()
            found = slot.rows.get([slot.index.ids[row] for row in places])
            return [(one, score) for one, score in zip(found, scores.tolist(), strict=True) if one is not None]

    def filed(self, namespace: str, field: str, value: Json) -> list[str]:
        """Ids of all memories whose metadata field has that value, also of those that ended, oldest first."""
        with self._shelf.fresh(namespace) as slot:
            index = slot.index
            rows: list[int] = index.facets.find(field_key(field, value))[0].tolist()
            return [index.ids[row] for row in rows if index.place.get(index.ids[row]) == row]

    def lacks(self, namespace: str) -> bool:
        """Whether the last read of the namespace met a memory without a vector; costs nothing."""
        return self._whole.lacks(namespace)

    def missing(self, namespace: str) -> list[str]:
        """Ids of the memories without a vector of the present embedder, oldest first."""
        if self._embedder is None:
            return []
        self._take(self._embedder.dimension)
        with self._whole.fresh(namespace) as slot:
            return slot.index.without_vector()

    def reembed(self, namespace: str, *, limit: int = 256) -> int:
        """Embed and store up to `limit` missing vectors; returns how many still miss one. Safe to stop and repeat."""
        if self._embedder is None:
            return 0
        self._take(self._embedder.dimension)
        with self._whole.fresh(namespace) as slot:
            wanted = slot.index.without_vector(limit)
        if not wanted:
            return 0
        memories = self._store.memories(namespace, wanted)
        _, stored = embed_stored(self._embedder, [indexed_text(memory) for memory in memories])
        rows = [
            Vector(memory=memory.id, model=self._embedder.model, data=data, changed=memory.changed)
            for memory, data in zip(memories, stored, strict=True)
        ]
        self._store.apply(namespace, Batch(vectors=tuple(rows)))
        with self._whole.fresh(namespace) as slot:
            slot.index.embed(self._whole.vectors(namespace, wanted))
            return slot.index.unembedded

    def forget(self, namespace: str) -> None:
        """Drop the namespace's index; the next search builds it again."""
        self._whole.forget(namespace)
        self._wordy.forget(namespace)

    def save(self, namespace: str) -> None:
        """Keep the namespace's index in the store for the next cold start; after large changes that happens unasked."""
        self._shelf.save(namespace)

    def close(self) -> None:
        """Drop every index, after what is being saved."""
        self._whole.close()
        self._wordy.close()

    @property
    def _shelf(self) -> Shelf:
        """The indexes: without vectors as long as a service could not be asked how long its vectors are.

        It is asked once; afterwards the first vector that it gives tells.
        """
        if self._embedder is None or self._dimension is not None:
            return self._whole
        if not self._asked_for_it:
            self._asked_for_it = True
            with WordsAlone():
                self._take(self._embedder.dimension)
        return self._wordy if self._dimension is None else self._whole

    def _take(self, dimension: int) -> None:
        """From now on there are vectors, and they are so long."""
        if self._dimension is None:
            self._dimension = dimension
            self._wordy.close()

    def _asked(self, query: str, now: datetime, weights: Weights | None) -> _Asked:
        checked_query(query)
        vector, words = self._embedded(query)
        return _Asked(query=query, vector=vector, words=words, now=now, weights=weights or self._options.weights)

    def _embedded(self, query: str) -> tuple[Vectors | None, AskedWords | None]:
        """The query's vector and its words; None without an embedder, when its service fails, and without direction."""
        if self._embedder is None:
            return None, None
        vector, words = None, None
        with WordsAlone():
            if self._reader is not None:
                vector, words = self._reader.embed_query_with_words(query)
            else:
                vector = self._embedder.embed_query(query)
            self._take(len(vector))
        return vector if vector is not None and vector.any() else None, words

    def _rank(self, slot: Slot, asked: _Asked, masks: Sequence[Mask], limit: int | None) -> list[Ranking]:
        """The best `limit` candidates under each mask."""
        index = slot.index
        if asked.weights.likeness:
            found = [nearest(index, mask, asked.query, asked.vector, limit) for mask in masks]
            told = "words" if asked.vector is None else "meaning"
            return [_likened(rows, np.minimum(like, 1), told) for rows, like in found]
        if not index.present or not masks:
            return [Ranking(rows=np.zeros(0, np.int64), scores=np.zeros(0, np.float32)) for _ in masks]
        grasp = understand(index, asked.query, asked.vector, asked.now, asked.words)
        pool = gather(index, grasp, masks, self._words, lambda rows: _memories(slot, rows))
        latest = grasp.question.latest
        ranking = rank(index, pool, self._learned, asked.weights, now=micros(asked.now), latest=latest)
        return [ranking.first(index.columns.born, mask, limit) for mask in masks]

    def _mask(self, slot: Slot, filter: Filter, now: datetime) -> Mask:  # noqa: A002
        index, mask = slot.index, allowed(slot.index, filter, now)
        if all(is_filed_exactly(value) for _, value in filter.where):
            return mask
        rows = np.flatnonzero(mask)
        for memory in self._store.memories(slot.namespace, [index.ids[row] for row in rows]):
            mask[index.place[memory.id]] = filter.reason_against(memory, now) is None
        return mask


def _learned(embedder: Embedder | None) -> Learned:
    """The weights for what such an embedder tells."""
    if embedder is None or isinstance(embedder, StaticEmbedder):
        return LEXICAL if embedder is None else STATIC
    return LATE if has_signs(embedder) else SENTENCE


def _hits(slot: Slot, ranking: Ranking) -> list[Hit]:
    memories = _memories(slot, cast("list[int]", ranking.rows.tolist()))
    namespace, names = slot.namespace, list(ranking.parts)
    return [
        Hit(memory=memory, namespace=namespace, score=score, parts=dict(zip(names, parts)), formula=formula)  # noqa: B905 - ten columns each
        for memory, score, parts, formula in zip(
            memories, ranking.scores.tolist(), ranking.signals().tolist(), ranking.formulas(), strict=True
        )
        if memory is not None
    ]


def _memories(slot: Slot, rows: Sequence[int]) -> list[Memory | None]:
    return slot.rows.get([slot.index.ids[row] for row in rows])


def _listed(index: Index, mask: Mask, limit: int, *, only_pinned: bool) -> Ranking:
    columns = index.columns
    pinned = (columns.flags & np.uint8(Flag.PINNED)) != 0
    rows = np.flatnonzero(mask & pinned if only_pinned else mask)
    score = np.minimum(1.0, columns.importance[rows] / 2 + 0.5 * pinned[rows])
    order = np.lexsort((-columns.born[rows], -columns.time[rows], -score))[:limit]
    rows = rows[order].astype(np.int64)
    parts = {"importance": columns.importance[rows], "pinned": pinned[rows].astype(np.float32)}
    return Ranking(rows=rows, scores=score[order].astype(np.float32), parts=parts, measures=(_LISTED, _LISTED))


def _likened(rows: NDArray[np.intp], like: NDArray[np.float32], name: str) -> Ranking:
    told = Measure(formula=Formula(weights={name: 1.0}))
    return Ranking(rows=rows, scores=like, parts={name: like}, measures=(told, told))


def _standing(ranking: Ranking, row: int | None, reason: str | None) -> Standing:
    found = np.flatnonzero(ranking.rows == (-1 if row is None else row)).tolist()
    if not found:
        out = reason or "unrelated"
        return Standing(rank=None, score=0.0, parts={}, formula=NOTHING, reason=out, candidates=len(ranking.rows))
    return Standing(
        rank=found[0] + 1,
        score=float(ranking.scores[found[0]]),
        parts=dict(zip(ranking.parts, ranking.signals()[found[0]].tolist(), strict=True)),
        formula=ranking.formulas()[found[0]],
        reason=None,
        candidates=len(ranking.rows),
    )
