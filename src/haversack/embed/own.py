"""A caller's own embedder, held to the protocol: what it raises or gives back wrong is a fault of a service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from haversack.embed.codec import checked
from haversack.embed.embedder import AskedWords, Embedder, Signs, Vectors, WithSigns, WordVectors, has_signs
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

    @property
    def sign_bytes(self) -> int:
        """Of the words that it reads along with a sentence, if it reads any."""
        return self._reader.sign_bytes

    def embed_with_signs(self, texts: Sequence[str]) -> tuple[Vectors, list[Signs]]:
        """See the protocol."""
        rows, signs = self._asked(self._told, texts)
        form = (self.sign_bytes,)
        if len(signs) != len(texts) or any(one.dtype != np.uint8 or one.shape[1:] != form for one in signs):
            raise ServiceError(f"the embedder {self.model!r} answered other signs than {self.sign_bytes} bytes a word")
        return self._checked(rows, len(texts), self.dimension), signs

    def embed_query_with_words(self, text: str) -> tuple[Vectors, AskedWords]:
        """See the protocol."""
        row, words, rows = self._asked(self._heard, text)
        told = checked(rows, len(words), 8 * self.sign_bytes, f"the embedder {self.model!r}", zero=True)
        return self._checked([row], 1, self.dimension)[0], AskedWords(words, told)

    def _told(self, texts: Sequence[str]) -> tuple[Any, list[NDArray[Any]]]:
        rows, signs = self._reader.embed_with_signs(texts)
        return rows, [np.asarray(one) for one in signs]

    def _heard(self, text: str) -> tuple[Any, tuple[str, ...], Any]:
        row, (words, rows) = self._reader.embed_query_with_words(text)
        return row, tuple(words), rows

    @property
    def _reader(self) -> WithSigns:
        if not has_signs(self._given):
            raise AttributeError(f"the embedder {self.model!r} reads no words")
        return self._given

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
