"""The embedder protocol. Vectors are rows of a float32 array, of unit length, or all zero for text without words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AskedWords",
    "Embedder",
    "Signs",
    "Vectors",
    "WithSigns",
    "WithWords",
    "WordVectors",
    "has_signs",
    "has_words",
]

Vectors = NDArray[np.float32]
Signs = NDArray[np.uint8]
"""One row for each word of a text: which of the numbers that say where it points are above zero, eight to a byte."""


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


class WithWords(Embedder, Protocol):
    """An embedder that brings word vectors along."""

    @property
    def words(self) -> WordVectors:
        """For soft matching beside this embedder's own vectors."""
        ...


class AskedWords(NamedTuple):
    """The words of a question, in order, as its sentence shades them."""

    words: tuple[str, ...]
    """Folded."""
    rows: Vectors
    """Where each points, of unit length: as many numbers as a word of a text has signs."""


class WithSigns(Embedder, Protocol):
    """An embedder that reads the words of a sentence along with it, in one go: for late interaction."""

    @property
    def sign_bytes(self) -> int:
        """Bytes in a row of `Signs`."""
        ...

    def embed_with_signs(self, texts: Sequence[str]) -> tuple[Vectors, list[Signs]]:
        """What `embed` gives, and the telling words of each text; what is stored with them goes by `model` as well."""
        ...

    def embed_query_with_words(self, text: str) -> tuple[Vectors, AskedWords]:
        """What `embed_query` gives, and the question's words."""
        ...


def has_words(embedder: object) -> TypeGuard[WithWords]:
    """Return whether an embedder is a WithWords. One that wraps another raises AttributeError where that has none."""
    return hasattr(embedder, "words")


def has_signs(embedder: object) -> TypeGuard[WithSigns]:
    """Return whether an embedder is a WithSigns. One that wraps another raises AttributeError where that has none."""
    return all(hasattr(embedder, name) for name in ("sign_bytes", "embed_with_signs", "embed_query_with_words"))
