"""Stands in for a sentence model in the rival's process: Haversack's default embedder behind the name it imports."""

from __future__ import annotations

from typing import Any

from haversack.embed.static import StaticEmbedder

__all__ = ["SentenceTransformer"]


class SentenceTransformer:
    """As much of the class as the rival calls."""

    def __init__(self, *_: object, **__: object) -> None:
        self._embedder = StaticEmbedder()

    def encode(self, sentences: str | list[str], **_: object) -> Any:
        """One vector, or one for each."""
        is_one = isinstance(sentences, str)
        vectors = self._embedder.embed([sentences] if is_one else list(sentences))
        return vectors[0] if is_one else vectors

    def get_sentence_embedding_dimension(self) -> int:
        """Of the vectors."""
        return self._embedder.dimension

    get_embedding_dimension = get_sentence_embedding_dimension
