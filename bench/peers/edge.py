"""Qdrant Edge: Qdrant's engine inside the process, on disk, with its default index once a segment is large enough."""

from __future__ import annotations

from collections.abc import Sequence

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    MatchValue,
    PayloadSchemaType,
    Point,
    Query,
    QueryRequest,
    UpdateOperation,
)

from bench.peers.offline import scratch
from bench.system import Piece
from haversack.embed.embedder import Embedder

__all__ = ["Edge"]

_BATCH = 1000


class Edge:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        params = EdgeVectorParams(size=embedder.dimension, distance=Distance.Cosine)
        self._shard = EdgeShard.create(str(scratch("edge")), EdgeConfig(vectors=params))
        self._shard.update(UpdateOperation.create_field_index("tenant", PayloadSchemaType.Keyword))

    def load(self, pieces: Sequence[Piece]) -> None:
        vectors = self._embedder.embed([piece.text for piece in pieces])
        for start in range(0, len(pieces), _BATCH):
            batch = zip(pieces[start : start + _BATCH], vectors[start : start + _BATCH], strict=True)
            points = [
                Point(start + i, vector.tolist(), {"id": piece.id, "tenant": piece.tenant, "text": piece.text})
                for i, (piece, vector) in enumerate(batch)
            ]
            self._shard.update(UpdateOperation.upsert_points(points))
        self._shard.optimize()
        self._shard.flush()

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        request = QueryRequest(
            limit=top_k,
            query=Query.Nearest(self._embedder.embed_query(question).tolist()),
            filter=Filter(must=[FieldCondition(key="tenant", match=MatchValue(tenant))]),
            with_payload=True,
        )
        return [found.payload["id"] for found in self._shard.query(request)]

    def close(self) -> None:
        self._shard.close()
