"""mem0 without its LLM: verbatim adds, hybrid search in a local Qdrant as `mem0ai[extras]` does it.

Its keyword model is `Qdrant/bm25`, of which only a list of stop words is ever downloaded; here an equal list comes from
the data that LlamaIndex ships. spaCy's English model, from which it takes lemmas and entities, cannot be had offline:
words are stemmed by the keyword model alone. Its files lie in memory, because its local store commits every row: on a
disk it takes in about 60 a second.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastembed import SparseTextEmbedding
from llama_index.core.utils import globals_helper
from mem0 import Memory
from mem0.utils.lemmatization import lemmatize_for_bm25

from bench.peers.offline import scratch
from bench.peers.vectors import ForMem0
from bench.system import Piece
from haversack.embed.embedder import Embedder

__all__ = ["Mem0", "join"]


class Mem0:
    def __init__(self, embedder: Embedder) -> None:
        folder = scratch("mem0", on_disk=False)
        self._memory = Memory.from_config(
            {
                "llm": {"provider": "openai", "config": {"api_key": "never-used"}},
                "embedder": {"provider": "openai", "config": {"api_key": "never-used"}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(folder / "qdrant"), "embedding_model_dims": embedder.dimension},
                },
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = ForMem0(embedder)
        self._memory.vector_store._bm25_encoder = SparseTextEmbedding(  # noqa: SLF001 - it would be downloaded
            "Qdrant/bm25", specific_model_path=str(folder), stopwords=set(globals_helper.stopwords)
        )

    def load(self, pieces: Sequence[Piece]) -> None:
        """What `add(…, infer=False)` leaves in its store, in batches."""
        vectors = self._memory.embedding_model.embed_batch([piece.text for piece in pieces], "add")
        for start in range(0, len(pieces), 1000):
            batch = pieces[start : start + 1000]
            self._memory.vector_store.insert(
                vectors=vectors[start : start + 1000],
                ids=[_uuid(start + i) for i in range(len(batch))],
                payloads=[_payload(piece) for piece in batch],
            )

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        found = self._memory.search(question, top_k=top_k, filters={"user_id": tenant})
        return [entry["metadata"]["piece"] for entry in found["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()


def join(pieces: Sequence[Piece]) -> str:
    """As its examples list memories in a prompt."""
    return "\n".join(f"- {piece.text}" for piece in pieces)


def _uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def _payload(piece: Piece) -> dict[str, str]:
    stamp = piece.at.isoformat()
    return {
        "user_id": piece.tenant,
        "data": piece.text,
        "text_lemmatized": lemmatize_for_bm25(piece.text),
        "hash": piece.id,
        "created_at": stamp,
        "updated_at": stamp,
        "role": "user",
        "piece": piece.id,
    }
