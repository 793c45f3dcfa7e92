"""Recall over a store: keeps one index per namespace, fresh and bounded, and answers queries from it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from haversack.embed.codec import encode_vectors
from haversack.embed.embedder import Embedder, Vectors, WithWords, WordVectors
from haversack.embed.static import StaticEmbedder
from haversack.errors import ServiceError
from haversack.model.memory import Json
from haversack.model.query import Filter
from haversack.model.times import from_micros, micros
from haversack.recall.columns import Flag
from haversack.recall.filtering import Mask, allowed
from haversack.recall.fuse import Ranking, gather, rank
from haversack.recall.hits import Hit, Standing
from haversack.recall.index import Index, field_key, indexed_text, is_filed_exactly
from haversack.recall.nearest import nearest
from haversack.recall.question import Question, checked_top_k, read
from haversack.recall.shelf import Shelf
from haversack.recall.vector import cosines
from haversack.scoring.blend import DEFAULT, LEXICAL, SENTENCE, STATIC, Weights
from haversack.store.port import Batch, Store, Vector

__all__ = ["Recall", "RecallOptions"]

_DAY = 86_400_000_000
"""In microseconds."""
_DEFAULT_LIMIT = 2_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How recall scores."""

    weights: Weights = DEFAULT


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
        self._words = embedder.words if words is None and isinstance(embedder, WithWords) else words
        static = isinstance(embedder, StaticEmbedder)
        self._learned = LEXICAL if embedder is None else STATIC if static else SENTENCE
        self._options = options
        self._shelf = Shelf(store, embedder, self._words, limit_bytes)

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
        limit = checked_top_k(top_k)
        read(query, now, now)
        if not limit:
            return []
        vector = self._query_vector(query)
        found = [
            self._search_one(name, query, vector, filter, now, weights, limit) for name in dict.fromkeys(namespaces)
        ]
        if len(found) == 1:
            return found[0]
        return heapq.nsmallest(limit, (hit for hits in found for hit in hits), key=lambda hit: -hit.score)

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
        read(query, now, now)
        vector = self._query_vector(query)
        for name in dict.fromkeys(namespaces):
            memories = self._store.memories(name, [memory_id])
            if memories:
                hits = self._search_one(name, query, vector, filter, now, weights, None)
                reason = filter.reason_against(memories[0], now)
                return _standing(hits, memory_id, reason)
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
            with self._shelf.fresh(name) as index:
                hits += _listed(name, index, self._mask(name, index, filter, now), limit, only_pinned=pinned)
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
        with self._shelf.fresh(namespace) as index:
            columns, rows = index.columns, np.flatnonzero(self._mask(namespace, index, filter, now))
            order = np.lexsort((-columns.born[rows], -columns.time[rows]))[skip : skip + top_k]
            days, counts = np.unique(columns.time[rows] // _DAY, return_counts=True)
            return [index.ids[row] for row in rows[order].tolist()], dict(
                zip(days.tolist(), counts.tolist(), strict=True)
            )

    def nearest(
        self,
        namespace: str,
        text: str,
        vector: Vectors | None,
        *,
        filter: Filter,  # noqa: A002
        now: datetime,
        top_k: int,
    ) -> list[tuple[str, float]]:
        """Ids of the memories most like a text, with their likeness (0 to 1), whatever answers a question.

        Cosines with `vector`, the text's embedding; without one, the share of its telling words.
        """
        with self._shelf.fresh(namespace) as index:
            return nearest(index, self._mask(namespace, index, filter, now), text, vector, top_k)

    def filed(self, namespace: str, field: str, value: Json) -> list[str]:
        """Ids of all memories whose metadata field has that value, also of those that ended, oldest first."""
        with self._shelf.fresh(namespace) as index:
            rows: list[int] = index.facets.find(field_key(field, value))[0].tolist()
            return [index.ids[row] for row in rows if index.place.get(index.ids[row]) == row]

    def missing(self, namespace: str) -> list[str]:
        """Ids of the memories without a vector of the present embedder, oldest first."""
        if self._embedder is None:
            return []
        with self._shelf.fresh(namespace) as index:
            return index.without_vector()

    def reembed(self, namespace: str, *, limit: int = 256) -> int:
        """Embed and store up to `limit` missing vectors; returns how many still miss one. Safe to stop and repeat."""
        wanted = self.missing(namespace)
        if not wanted or self._embedder is None:
            return 0
        memories = self._store.memories(namespace, wanted[:limit])
        data = encode_vectors(self._embedder.embed([indexed_text(memory) for memory in memories]))
        rows = [Vector(memory=m.id, model=self._embedder.model, data=d) for m, d in zip(memories, data, strict=True)]
        self._store.apply(namespace, Batch(vectors=tuple(rows)))
        with self._shelf.fresh(namespace) as index:
            index.embed(self._shelf.decoded({row.memory: row.data for row in rows}))
            return len(index.without_vector())

    def forget(self, namespace: str) -> None:
        """Drop the namespace's index; the next search builds it again."""
        self._shelf.forget(namespace)

    def save(self, namespace: str) -> None:
        """Keep the namespace's index in the store for the next cold start; after large changes that happens unasked."""
        self._shelf.save(namespace)

    def close(self) -> None:
        """Drop every index, after what is being saved."""
        self._shelf.close()

    def _query_vector(self, query: str) -> Vectors | None:
        """The query's vector; None without an embedder, and when its service fails: words find what they can."""
        if self._embedder is None:
            return None
        try:
            return self._embedder.embed_query(query)
        except ServiceError:
            return None

    def _search_one(
        self,
        namespace: str,
        query: str,
        vector: Vectors | None,
        filter: Filter,  # noqa: A002
        now: datetime,
        weights: Weights | None,
        limit: int | None,
    ) -> list[Hit]:
        with self._shelf.fresh(namespace) as index:
            if not index.present:
                return []
            question = read(query, now, _earliest(index))
            mask = self._mask(namespace, index, filter, now)
            ranking = self._rank(index, question, vector, mask, micros(now), weights or self._options.weights)
            return _hits(namespace, index, ranking if limit is None else ranking.first(limit))

    def _rank(
        self, index: Index, question: Question, vector: Vectors | None, mask: Mask, now: int, weights: Weights
    ) -> Ranking:
        cosine = None if vector is None else cosines(index.columns, vector)
        pool = gather(index, question, mask, cosine, self._words)
        return rank(index, pool, self._learned, weights, now=now, latest=question.latest)

    def _mask(self, namespace: str, index: Index, filter: Filter, now: datetime) -> Mask:  # noqa: A002
        mask = allowed(index, filter, now)
        if all(is_filed_exactly(value) for _, value in filter.where):
            return mask
        rows = np.flatnonzero(mask)
        for memory in self._store.memories(namespace, [index.ids[row] for row in rows]):
            mask[index.place[memory.id]] = filter.reason_against(memory, now) is None
        return mask


def _earliest(index: Index) -> datetime:
    return from_micros(int(index.columns.time.min())).astimezone(UTC)


def _hits(namespace: str, index: Index, ranking: Ranking) -> list[Hit]:
    names = index.session_names
    ids: list[str] = index.ids
    rows: list[int] = ranking.rows.tolist()
    scores: list[float] = ranking.scores.tolist()
    sessions: list[int] = index.columns.session[ranking.rows].tolist()
    born: list[int] = index.columns.born[ranking.rows].tolist()
    values: list[list[float]] = ranking.values().tolist()
    return [
        Hit(
            namespace=namespace,
            memory_id=ids[row],
            score=score,
            parts=dict(zip(ranking.parts, parts, strict=True)),
            session=names[session] if session >= 0 else None,
            born=place,
        )
        for row, score, session, place, parts in zip(rows, scores, sessions, born, values, strict=True)
    ]


def _listed(namespace: str, index: Index, mask: Mask, limit: int, *, only_pinned: bool) -> list[Hit]:
    columns = index.columns
    pinned = (columns.flags & np.uint8(Flag.PINNED)) != 0
    rows = np.flatnonzero(mask & pinned if only_pinned else mask)
    score = np.minimum(1.0, columns.importance[rows] / 2 + 0.5 * pinned[rows])
    order = np.lexsort((-columns.born[rows], -columns.time[rows], -score))[:limit]
    ranking = Ranking(rows=rows[order].astype(np.int64), scores=score[order].astype(np.float32), parts={})
    return _hits(namespace, index, ranking)


def _standing(hits: Sequence[Hit], memory_id: str, reason: str | None) -> Standing:
    for place, hit in enumerate(hits, 1):
        if hit.memory_id == memory_id:
            return Standing(rank=place, score=hit.score, parts=hit.parts, reason=None, candidates=len(hits))
    return Standing(rank=None, score=0.0, parts={}, reason=reason or "unrelated", candidates=len(hits))
