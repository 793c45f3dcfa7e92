"""What the bench asks of every memory system: take a conversation in, pack contexts for a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import toktok

from bench.recount import ENCODING, recount
from haversack.evaluation.conversations import Conversation
from haversack.recall.chunks import chunk

__all__ = ["TENANT", "Packed", "Piece", "Retriever", "Searching", "System", "cut", "fill"]

TENANT = "bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a peer stores: a turn, or a part of a long one, in the words `Speaker: text`."""

    id: str
    turn: str
    text: str
    at: datetime
    tenant: str = TENANT


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A context as it would be sent, and what its maker says it holds."""

    text: str
    claims: tuple[Piece, ...]


class System(Protocol):
    """One system under measurement; a fresh one serves one conversation."""

    def add(self, conversation: Conversation) -> None: ...

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:
        """One context for each budget."""
        ...

    def close(self) -> None: ...


class Retriever(Protocol):
    """A peer that finds pieces; packing them is its user's business."""

    def load(self, pieces: Sequence[Piece]) -> None: ...

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        """Ids of the tenant's pieces, best first."""
        ...

    def close(self) -> None: ...


class Searching:
    """A retriever as a system: search once, then take the best that fit, joined as its users join them."""

    def __init__(self, retriever: Retriever, *, join: Callable[[Sequence[Piece]], str], top_k: int = 500) -> None:
        self._retriever = retriever
        self._join = join
        self._top_k = top_k
        self._pieces: dict[str, Piece] = {}

    def add(self, conversation: Conversation) -> None:
        pieces = cut(conversation)
        self._pieces = {piece.id: piece for piece in pieces}
        self._retriever.load(pieces)

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:  # noqa: ARG002 - one face for all
        found = [self._pieces[key] for key in self._retriever.search(question, self._top_k, TENANT)]
        return [fill(found, budget, self._join) for budget in budgets]

    def close(self) -> None:
        self._retriever.close()


def cut(conversation: Conversation) -> list[Piece]:
    """The same pieces for every peer: turns, long ones in chunks of about 200 tokens."""
    return [
        Piece(id=f"{turn.id}#{place}", turn=turn.id, text=f"{turn.speaker}: {text}", at=turn.at)
        for turn in conversation.turns
        for place, text in enumerate(chunk(turn.text, _count_many))
    ]


def fill(found: Iterable[Piece], budget: int, join: Callable[[Sequence[Piece]], str]) -> Packed:
    """Best first until nothing more fits, truly counted; a misfit is skipped, which is kinder than usual."""
    kept: list[Piece] = []
    left = budget
    for piece in found:
        price = recount(join([piece])) + (1 if kept else 0)
        if price <= left:
            kept.append(piece)
            left -= price
        if left < 4:
            break
    return Packed(text=join(kept), claims=tuple(kept))


def _count_many(texts: Sequence[str]) -> list[int]:
    return toktok.batch_count(list(texts), ENCODING, 1)
