"""A caller's own embedder, held to the protocol: what it raises or gives back wrong is a fault of a service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haversack.embed.codec import checked
from haversack.embed.embedder import Embedder, Vectors, WordVectors
from haversack.errors import HaversackError, InputError, ServiceError

__all__ = ["OwnEmbedder"]


class OwnEmbedder:
    """Rows of unit length and of one dimension, or ServiceError: then words alone serve, as with any service.

    Nothing else needs to be there than `model` and `embed`: a dimension that is not told is asked for once.
    """

    def __init__(self, given: Embedder) -> None:
        model: object = getattr(given, "model", None)
        if not isinstance(model, str) or not model.strip():
            raise InputError(f"embedder.model={model!r} must be a name: it stands beside every vector")
        told: object = getattr(given, "dimension", None)
        if told is not None and (isinstance(told, bool) or not isinstance(told, int) or told < 1):
            raise InputError(f"embedder.dimension={told!r} must be a whole number, 1 or more")
        self.model = model
        self._given = given
        self._dimension = told

    @property
    def dimension(self) -> int:
        """As told, or else that of the vector of one word."""
        if self._dimension is None:
            self._dimension = int(self._rows(["dimension"], None).shape[1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See the protocol."""
        return self._rows(texts, self.dimension) if texts else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """See the protocol; by `embed` where there is no way of its own for queries."""
        if not hasattr(self._given, "embed_query"):
            return self.embed([text])[0]
        return self._checked([self._asked(self._given.embed_query, text)], 1, self.dimension)[0]

    @property
    def words(self) -> WordVectors:
        """Those that it brings along, if any."""
        return self._given.words  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]

    def _rows(self, texts: Sequence[str], dimension: int | None) -> Vectors:
        return self._checked(self._asked(self._given.embed, texts), len(texts), dimension)

    def _checked(self, rows: Any, count: int, dimension: int | None) -> Vectors:
        return checked(rows, count, dimension, f"the embedder {self.model!r}", zero=True)

    def _asked(self, verb: Any, asked: Any) -> Any:
        try:
            return verb(asked)
        except HaversackError:
            raise
        except Exception as error:  # it is somebody else's code: whatever it raises, it has failed
            raise ServiceError(f"the embedder {self.model!r} failed: {type(error).__name__}: {error}") from error
