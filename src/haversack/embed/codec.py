"""How vectors are stored: a float32 scale and one signed byte per dimension, little-endian, in that order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import Vectors
from haversack.errors import ServiceError

__all__ = ["Quantised", "decode_vector", "encode_vectors", "quantise"]

Quantised = tuple[float, NDArray[np.int8]]
"""Scale and codes; a zero scale stands for a text without words."""


def encode_vectors(rows: Vectors) -> list[bytes]:
    """The stored bytes of each row."""
    scales, codes = quantise(rows)
    return [scale.tobytes() + row.tobytes() for scale, row in zip(scales.astype("<f4"), codes, strict=True)]


def decode_vector(data: bytes, dimension: int) -> Quantised | None:
    """Scale and codes, or None when the bytes are not those of such a vector."""
    if len(data) != 4 + dimension:
        return None
    scale = float(np.frombuffer(data, "<f4", 1)[0])
    return (scale, np.frombuffer(data, np.int8, offset=4)) if np.isfinite(scale) else None


def quantise(rows: Vectors) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Scales, shape (n,), and codes, shape (n, dimension): row ≈ scale · codes."""
    top = np.abs(rows).max(axis=1, initial=0.0)
    scales = (top / 127).astype(np.float32)
    codes = np.rint(rows / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return scales, codes


def checked(rows: Iterable[Iterable[float]], count: int, dimension: int | None, who: str) -> Vectors:
    """Rows as unit vectors; raises ServiceError naming `who` for a wrong shape, NaN, infinity or a zero vector."""
    try:
        array = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ServiceError(f"{who} answered rows that are no vectors of one length") from error
    if array.ndim != 2 or len(array) != count or (dimension is not None and array.shape[1] != dimension):  # noqa: PLR2004
        wanted = f"({count}, {dimension or 'any'})"
        raise ServiceError(f"{who} answered an array of shape {array.shape}, not {wanted}")
    if not np.isfinite(array).all():
        raise ServiceError(f"{who} answered NaN or infinite numbers")
    length = np.linalg.norm(array, axis=1, keepdims=True)
    if not (length > 0).all():
        raise ServiceError(f"{who} answered a zero vector")
    return array / length
