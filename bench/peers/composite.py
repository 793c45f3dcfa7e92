"""The composite of relevance, importance and recency, packed by a length estimate that stops at the first misfit.

.5 / .3 / .2, fifty candidates by vector, a linear recency of 30 days, characters over four as tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from bench.system import Packed, Piece, cut
from haversack.embed.embedder import Embedder
from haversack.evaluation.conversations import Conversation

__all__ = ["Composite"]

_CANDIDATES = 50
_IMPORTANCE = 0.5
_MONTH_HOURS = 720
_JOIN = "\n---\n"


class Composite:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._pieces: list[Piece] = []

    def add(self, conversation: Conversation) -> None:
        self._pieces = cut(conversation)
        self._vectors = self._embedder.embed([piece.text for piece in self._pieces])

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:
        relevance = self._vectors @ self._embedder.embed_query(question)
        found = np.argsort(-relevance, kind="stable")[:_CANDIDATES]
        ranked = sorted(found, key=lambda row: -self._score(float(relevance[row]), self._pieces[row], now))
        return [_until_misfit([self._pieces[row] for row in ranked], budget) for budget in budgets]

    def _score(self, relevance: float, piece: Piece, now: datetime) -> float:
        hours = (now - piece.at).total_seconds() / 3600
        return 0.5 * relevance + 0.3 * _IMPORTANCE + 0.2 * max(0.0, 1 - hours / _MONTH_HOURS)

    def close(self) -> None:
        self._pieces = []


def _until_misfit(ranked: Sequence[Piece], budget: int) -> Packed:
    kept: list[Piece] = []
    used = 0
    for piece in ranked:
        used += len(piece.text) // 4
        if used > budget:
            break
        kept.append(piece)
    return Packed(text=_JOIN.join(piece.text for piece in kept), claims=tuple(kept))
