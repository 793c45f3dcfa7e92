"""The embedder protocol. Vectors are rows of a float32 array, of unit length, or all zero for text without words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedder", "Vectors"]

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts in, one row each out. The same text always gives the same row."""

    model: str
    """Identity, stored beside every vector: another name is another space."""
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension). Raises ServiceError where a service fails or answers nonsense."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,)."""
        ...
