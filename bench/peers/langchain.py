"""LangChain's in-memory vector store: embed each text, return the nearest."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore

from bench.peers.vectors import ForLangChain
from bench.system import Piece
from haversack.embed.embedder import Embedder

__all__ = ["LangChain", "join"]


class LangChain:
    def __init__(self, embedder: Embedder) -> None:
        self._store = InMemoryVectorStore(ForLangChain(embedder))

    def load(self, pieces: Sequence[Piece]) -> None:
        self._store.add_documents(
            [Document(piece.text, id=piece.id, metadata={"tenant": piece.tenant}) for piece in pieces]
        )

    def search(self, question: str, top_k: int, tenant: str) -> list[str]:
        found = self._store.similarity_search(question, k=top_k, filter=lambda one: one.metadata["tenant"] == tenant)
        return [document.id for document in found]

    def close(self) -> None:
        del self._store


def join(pieces: Sequence[Piece]) -> str:
    """As its retrieval examples join documents."""
    return "\n\n".join(piece.text for piece in pieces)
