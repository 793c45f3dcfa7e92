"""The default embedder: a table of word-piece vectors beside this file, averaged. No model runs; see `static.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import Vectors
from haversack.embed.pieces import PieceTokenizer

__all__ = ["STATIC_MODEL", "StaticEmbedder"]

STATIC_MODEL = "haversack-static-128-v1"
_DIMENSION = 128
_BATCH = 1024
_LONGEST = 40_000
"""Characters of a text that are read; more cannot turn an average any further."""


class StaticEmbedder:
    """Mean of word-piece vectors; words of other alphabets than Latin, Greek and Cyrillic have none."""

    model = STATIC_MODEL
    dimension = _DIMENSION

    def __init__(self) -> None:
        self._loading = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See the protocol; a text without known words gives zeros."""
        parts = [self._embed_batch(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, _DIMENSION), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """See the protocol."""
        return self._embed_batch([text])[0]

    def pieces(self, text: str) -> list[int]:
        """The word pieces of a text, as rows of `table`."""
        return self._loaded.tokenizer.pieces(text[:_LONGEST])

    @property
    def words(self) -> StaticEmbedder:
        """Its own pieces."""
        return self

    @property
    def codes(self) -> NDArray[np.int8]:
        """See the protocol."""
        return self._loaded.codes

    @property
    def norms(self) -> NDArray[np.float32]:
        """See the protocol."""
        return self._loaded.norms

    def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        loaded = self._loaded
        sums = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in enumerate(texts):
            pieces = loaded.tokenizer.pieces(text[:_LONGEST])
            sums[row] = (loaded.codes.take(pieces, axis=0) * loaded.scales.take(pieces)[:, None]).sum(axis=0)
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-12))

    @cached_property
    def _files(self) -> _Files:
        folder = Path(__file__).parent
        vocabulary = (folder / "static.vocab").read_text("utf-8").split()
        with (folder / "static.bin").open("rb") as file:
            data = mmap(file.fileno(), 0, access=ACCESS_READ)
        scales: NDArray[np.float32] = np.frombuffer(data, "<f4", len(vocabulary))
        codes = np.frombuffer(data, np.int8, offset=scales.nbytes).reshape(len(vocabulary), _DIMENSION)
        norms = np.sqrt(np.einsum("ij,ij->i", codes, codes, dtype=np.float32))  # sums of whole numbers: exact
        return _Files(PieceTokenizer(vocabulary), codes, np.maximum(norms, 1), scales)

    @property
    def _loaded(self) -> _Files:
        with self._loading:
            return self._files


@dataclass(frozen=True, slots=True)
class _Files:
    tokenizer: PieceTokenizer
    codes: NDArray[np.int8]
    norms: NDArray[np.float32]
    scales: NDArray[np.float32]
    """Times its codes each piece's vector; its length says how telling the piece is."""
