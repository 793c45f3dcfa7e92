"""SQLite FTS5 with porter stemming, any word of the question, ranked by its own bm25."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from bench.peers.offline import scratch
from bench.system import Piece

__all__ = ["Fts5", "join"]

_WORD = re.compile(r"\w+")


class Fts5:
    def __init__(self) -> None:
        self._db = sqlite3.connect(scratch("fts5") / "memory.db")
        self._db.execute(
            "CREATE VIRTUAL TABLE memory USING "
            "fts5(id UNINDEXED, tenant UNINDEXED, content, tokenize='porter unicode61')"
        )

    def load(self, pieces: Sequence[Piece]) -> None:
        with self._db:
            self._db.executemany("INSERT INTO memory VALUES (?, ?, ?)", [(p.id, p.tenant, p.text) for p in pieces])

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        rows = self._db.execute(
            "SELECT id, content FROM memory WHERE memory MATCH ? AND tenant = ? ORDER BY rank LIMIT ?",
            (words, tenant, top_k),
        )
        return [key for key, _ in rows]

    def close(self) -> None:
        self._db.close()


def join(pieces: Sequence[Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)
