"""Haversack through its public face, with each of its embedders."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import haversack
from bench.system import Packed, Piece
from haversack.embed.embedder import Embedder
from haversack.evaluation.conversations import Conversation

__all__ = ["Ours"]

_KEPT = ("kept", "shortened")


class Ours:
    """One namespace; a turn is a turn of a session."""

    def __init__(self, embedder: str | Embedder, store: str) -> None:
        self._sack = haversack.open(store, embedder=embedder)
        self._ns = self._sack.namespace("bench")
        self._content: dict[str, str] = {}

    def add(self, conversation: Conversation) -> None:
        by_session: dict[str, list[dict[str, object]]] = {}
        for turn in conversation.turns:
            role = turn.speaker if turn.speaker in ("user", "assistant") else "user"
            message = {"role": role, "content": turn.text, "at": turn.at, "metadata": {"turn": turn.id}}
            named = message if role == turn.speaker else {**message, "name": turn.speaker}
            by_session.setdefault(turn.session, []).append(named)
        for session, messages in by_session.items():
            self._ns.session(session).extend(messages)
        self._ns.index()

    def pack(self, question: str, budgets: Sequence[int], now: datetime) -> list[Packed]:
        return [self._context(question, budget, now) for budget in budgets]

    def _context(self, question: str, budget: int, now: datetime) -> Packed:
        packed = self._ns.context(
            question, budget=budget, model="cl100k_base", layout="flat", kinds=["passage"], now=now
        )
        claims = [
            Piece(id=row.memory_id, turn=str(row.metadata["turn"]), text=self._words(row.memory_id), at=now)
            for row in packed.verdicts
            if row.verdict in _KEPT
        ]
        return Packed(text=packed.text, claims=tuple(claims))

    def _words(self, memory_id: str) -> str:
        if memory_id not in self._content:
            self._content[memory_id] = self._ns.get(memory_id).content
        return self._content[memory_id]

    def close(self) -> None:
        self._sack.close()
