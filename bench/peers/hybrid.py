"""Reciprocal-rank fusion (k = 60) of FTS5 and vectors, as hybrid search is usually built."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from bench.system import Piece, Retriever

__all__ = ["Hybrid"]

_K = 60
_DEPTH = 200


class Hybrid:
    def __init__(self, *sources: Retriever) -> None:
        self._sources = sources

    def load(self, pieces: Sequence[Piece]) -> None:
        for source in self._sources:
            source.load(pieces)

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        score: defaultdict[str, float] = defaultdict(float)
        for source in self._sources:
            for rank, key in enumerate(source.search(question, _DEPTH, tenant), 1):
                score[key] += 1 / (_K + rank)
        return sorted(score, key=lambda key: -score[key])[:top_k]

    def close(self) -> None:
        for source in self._sources:
            source.close()
