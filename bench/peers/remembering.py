"""An embedder that answers from memory what it was asked before, so that no peer waits twice for the same vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from haversack.embed.embedder import Embedder, Vectors, WithWords, WordVectors
from haversack.embed.static import StaticEmbedder

__all__ = ["Remembering", "embedder", "remembering"]


def embedder(name: str) -> Embedder:
    """The very object that Haversack itself would use."""
    if name == "onnx":
        from haversack.embed.onnx import OnnxEmbedder

        return OnnxEmbedder()
    return StaticEmbedder()


def remembering(names: Iterable[str], folder: Path | None) -> dict[str, Remembering]:
    """One for each embedder that gives vectors."""
    return {
        name: Remembering(embedder(name), None if folder is None else folder / f"{name}.npz")
        for name in names
        if name != "none"
    }


class Remembering:
    """The same vectors as the embedder that it asks; a file outlives the process."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self._embedder = embedder
        self._file = file
        self._texts: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}
        if file is not None and file.exists():
            with np.load(file) as kept:
                self._texts = dict(zip(json.loads(kept["texts"].tobytes()), kept["vectors"], strict=True))
        self.model = embedder.model
        self.dimension = embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._texts]
        if fresh:
            self._texts |= zip(fresh, self._embedder.embed(fresh), strict=True)
        return np.array([self._texts[text] for text in texts], np.float32).reshape(len(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        if text not in self._queries:
            self._queries[text] = self._embedder.embed_query(text)
        return self._queries[text]

    @property
    def words(self) -> WordVectors:
        """Those of the embedder that it asks."""
        if not isinstance(self._embedder, WithWords):
            raise TypeError(f"{self.model} has no word vectors")
        return self._embedder.words

    def save(self) -> None:
        """Write what is remembered of texts to the file, if there is one."""
        if self._file is not None and self._texts:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            texts = np.frombuffer(json.dumps(list(self._texts)).encode(), np.uint8)
            np.savez(self._file, texts=texts, vectors=np.array(list(self._texts.values())))
