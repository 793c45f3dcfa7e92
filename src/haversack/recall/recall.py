"""Recall over a store: keeps one index per namespace, fresh and bounded, and shows it as views that answer queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from haversack.embed.codec import embed_stored
from haversack.embed.embedder import AskedWords, Embedder, Vectors, WordVectors, has_signs, has_words
from haversack.embed.lapse import WordsAlone
from haversack.embed.static import StaticEmbedder
from haversack.model.query import Filter
from haversack.recall.hits import Hit, Standing
from haversack.recall.index import indexed_text
from haversack.recall.question import checked_query, checked_top_k, matter
from haversack.recall.shelf import Shelf
from haversack.recall.view import Asked, View
from haversack.scoring.blend import DEFAULT, LATE, LEXICAL, SENTENCE, STATIC, Learned, Weights
from haversack.store.port import Batch, Store, Vector

__all__ = ["Recall", "RecallOptions"]

_DEFAULT_LIMIT = 2_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How recall scores."""

    weights: Weights = DEFAULT


class Recall:
    """One per open store; safe for threads.

    Every view first asks the store for what came after the last one, so a write by any process is seen by the next.
    A namespace's statistics never touch another's. `words` allows soft matching of single words; the embedders that
    ship bring them along.
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
        self.on_erased: Callable[[str], None] = lambda _: None
        """Hears of each namespace in which a view found that something was erased."""
        self._dimension: int | None = None
        self._asked_for_it = False

    def view(self, namespaces: Sequence[str], *, vector: Vectors | None = None, wait: float | None = None) -> View:
        """Return the namespaces with every change that was acknowledged before this call: ask one view all of a call.

        A `vector` of the embedder, where the caller has one, tells how long its vectors are. With `wait`, many changes
        are waited for that many seconds in all; the view then says how far it is `behind`.
        """
        if vector is not None:
            self._take(len(vector))
        shelf, end = self._shelf, 0.0 if wait is None else monotonic() + wait
        parts = tuple(
            shelf.view(name, wait=None if wait is None else max(0.0, end - monotonic()))
            for name in dict.fromkeys(namespaces)
        )
        for name in shelf.take_erased():
            self.on_erased(name)
        return View(parts=parts, learned=self._learned, vocabulary=self._words)

    def catch_up(self, namespace: str) -> bool:
        """Bring the namespace's indexes up to the store where there are any; whether there were."""
        held = [shelf for shelf in (self._whole, self._wordy) if shelf.holds(namespace)]
        for shelf in held:
            shelf.view(namespace)
            for name in shelf.take_erased():
                self.on_erased(name)
        return bool(held)

    def asked(self, query: str, *, now: datetime, weights: Weights | None = None) -> Asked:
        """Return the query as views take it; raise QueryError for a blank one before the embedder is asked."""
        checked_query(query)
        vector, words = self._embedded(matter(query))
        return Asked(query=query, vector=vector, words=words, now=now, weights=weights or self._options.weights)

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
        asked = self.asked(query, now=now, weights=weights)
        return self.view(namespaces).search(asked, filter, top_k=limit) if limit else []

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
        asked = self.asked(query, now=now, weights=weights)
        return self.view(namespaces).explain(asked, filter, memory_id)

    def written(self, namespace: str, count: int) -> None:
        """Tell that so many memories were written; a load is indexed behind its back."""
        if count:
            self._shelf.written(namespace, count)

    def erasing(self, namespace: str) -> AbstractContextManager[None]:
        """Keep the namespace's index for the next cold start, without what is erased in the `with` statement."""
        return self._shelf.erasing(namespace)

    def lacks(self, namespace: str) -> bool:
        """Whether the last read of the namespace met a memory without a vector; costs nothing."""
        return self._whole.lacks(namespace)

    def missing(self, namespace: str) -> list[str]:
        """Ids of the memories without a vector of the present embedder, oldest first."""
        if self._embedder is None:
            return []
        self._take(self._embedder.dimension)
        return self._whole.view(namespace).index.without_vector()

    def reembed(self, namespace: str, *, limit: int = 256) -> int:
        """Embed and store up to `limit` missing vectors; returns how many still miss one. Safe to stop and repeat."""
        if self._embedder is None:
            return 0
        self._take(self._embedder.dimension)
        wanted = self._whole.view(namespace).index.without_vector(limit)
        if not wanted:
            return 0
        memories = self._store.memories(namespace, wanted)
        _, stored = embed_stored(self._embedder, [indexed_text(memory) for memory in memories])
        rows = [
            Vector(memory=memory.id, model=self._embedder.model, data=data, changed=memory.changed)
            for memory, data in zip(memories, stored, strict=True)
        ]
        self._store.apply(namespace, Batch(vectors=tuple(rows)))
        return self._whole.view(namespace).index.unembedded

    def forget(self, namespace: str) -> None:
        """Drop the namespace's index; the next search builds it again."""
        self._whole.forget(namespace)
        self._wordy.forget(namespace)

    def save(self, namespace: str) -> None:
        """Keep the namespace's index in the store for the next cold start; after large changes that happens unasked."""
        self._shelf.save(namespace)

    def close(self) -> None:
        """Stop building, and drop every index after what is being saved."""
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
            self._wordy.close(keep=False)

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


def _learned(embedder: Embedder | None) -> Learned:
    """The weights for what such an embedder tells."""
    if embedder is None or isinstance(embedder, StaticEmbedder):
        return LEXICAL if embedder is None else STATIC
    return LATE if has_signs(embedder) else SENTENCE
