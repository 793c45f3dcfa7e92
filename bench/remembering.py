"""An embedder that answers from memory what it was asked before, so that no peer waits twice for the same vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import AskedWords, Embedder, Signs, Vectors, WordVectors, has_signs, has_words
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
    return {name: _remembering(name, folder) for name in names if name != "none"}


def _remembering(name: str, folder: Path | None) -> Remembering:
    asked = embedder(name)
    file = None if folder is None else folder / f"{asked.model}.npz"
    return RememberingWords(asked, file) if has_signs(asked) else Remembering(asked, file)


class Remembering:
    """The same vectors as the embedder that it asks; a file outlives the process."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self._embedder = embedder
        self._file = file
        self._texts: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}
        if file is not None and file.exists():
            with np.load(file) as kept:
                self._take(json.loads(kept["texts"].tobytes()), kept)
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
        if not has_words(self._embedder):
            raise AttributeError(f"{self.model} has no word vectors")
        return self._embedder.words

    def save(self) -> None:
        """Write what is remembered of texts to the file, if there is one."""
        if self._file is not None and self._texts:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            texts = np.frombuffer(json.dumps(list(self._texts)).encode(), np.uint8)
            np.savez(self._file, texts=texts, allow_pickle=False, **self._arrays())

    def _take(self, texts: Sequence[str], kept: Mapping[str, NDArray[Any]]) -> None:
        self._texts = dict(zip(texts, kept["vectors"], strict=True))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"vectors": np.array(list(self._texts.values()))}


class RememberingWords(Remembering):
    """The same for an embedder that reads the words of a sentence along with it."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        if not has_signs(embedder):
            raise TypeError(f"{embedder.model} gives no signs of words")
        self._reader = embedder
        self.sign_bytes = embedder.sign_bytes
        self._signs: dict[str, Signs] = {}
        self._asked: dict[str, tuple[Vectors, AskedWords]] = {}
        super().__init__(embedder, file)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_with_signs(texts)[0]

    def embed_with_signs(self, texts: Sequence[str]) -> tuple[Vectors, list[Signs]]:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._texts]
        if fresh:
            rows, signs = self._reader.embed_with_signs(fresh)
            self._texts |= zip(fresh, rows, strict=True)
            self._signs |= zip(fresh, signs, strict=True)
        return super().embed(texts), [self._signs[text] for text in texts]

    def embed_query_with_words(self, text: str) -> tuple[Vectors, AskedWords]:
        if text not in self._asked:
            self._asked[text] = self._reader.embed_query_with_words(text)
        return self._asked[text]

    def _take(self, texts: Sequence[str], kept: Mapping[str, NDArray[Any]]) -> None:
        super()._take(texts, kept)
        self._signs = dict(zip(texts, np.split(kept["signs"], np.cumsum(kept["counts"])[:-1]), strict=True))

    def _arrays(self) -> dict[str, NDArray[Any]]:
        signs = [self._signs[text] for text in self._texts]
        return super()._arrays() | {"signs": np.concatenate(signs), "counts": np.array([len(one) for one in signs])}
