"""sqlite-vec: an exact scan over a virtual table with the tenant as partition key.

Through apsw, because many builds of the standard sqlite3 module cannot load extensions.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import sqlite_vec

from bench.peers.offline import scratch
from bench.system import Piece
from haversack.embed.embedder import Embedder

__all__ = ["SqliteVec"]


class SqliteVec:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._db = apsw.Connection(str(scratch("sqlitevec") / "memory.db"))
        self._db.enable_load_extension(True)  # noqa: FBT003 - its signature
        self._db.load_extension(sqlite_vec.loadable_path())
        self._db.execute(
            f"CREATE VIRTUAL TABLE memory USING vec0(tenant TEXT PARTITION KEY, +id TEXT, +content TEXT, "
            f"embedding FLOAT[{embedder.dimension}] distance_metric=cosine)"
        )

    def load(self, pieces: Sequence[Piece]) -> None:
        vectors = self._embedder.embed([piece.text for piece in pieces])
        with self._db:
            self._db.executemany(
                "INSERT INTO memory (tenant, id, content, embedding) VALUES (?, ?, ?, ?)",
                [(p.tenant, p.id, p.text, vector.tobytes()) for p, vector in zip(pieces, vectors, strict=True)],
            )

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        rows = self._db.execute(
            "SELECT id, content FROM memory WHERE embedding MATCH ? AND tenant = ? AND k = ?",
            (self._embedder.embed_query(question).tobytes(), tenant, top_k),
        )
        return [key for key, _ in rows]

    def close(self) -> None:
        self._db.close()
