"""An embedder that answers from memory what it was asked before, so that no peer waits twice for the same vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haversack.embed.embedder import Embedder, Vectors

__all__ = ["Remembering"]


class Remembering:
    """The same vectors as the embedder that it asks."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._texts: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}
        self.model = embedder.model
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._texts]
        if fresh:
            self._texts |= zip(fresh, self._embedder.embed(fresh), strict=True)
        return np.array([self._texts[text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        if text not in self._queries:
            self._queries[text] = self._embedder.embed_query(text)
        return self._queries[text]
