"""The embedder protocol. Vectors are rows of a float32 array, of unit length, or all zero for text without words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "Vectors", "WithWords", "WordVectors"]

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts in, one row each out. The same text always gives the same row."""

    model: str
    """Identity, stored beside every vector: another name is another space."""

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension). Raises ServiceError where a service fails or answers nonsense."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,)."""
        ...


class WordVectors(Protocol):
    """Directions of single word pieces, for soft matching of words."""

    @property
    def codes(self) -> NDArray[np.int8]:
        """One row per piece."""
        ...

    @property
    def norms(self) -> NDArray[np.float32]:
        """The length of each row of `codes`; never 0."""
        ...

    def pieces(self, text: str) -> list[int]:
        """The pieces of a text, as rows of `codes`."""
        ...


@runtime_checkable
class WithWords(Protocol):
    """An embedder that brings word vectors along."""

    @property
    def words(self) -> WordVectors:
        """For soft matching beside this embedder's own vectors."""
        ...
