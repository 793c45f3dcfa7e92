"""How vectors are stored: a float32 scale, then a signed byte per dimension, then half a byte each; little-endian.

The bytes are enough to search with; the halves are residues, which tell apart what nearly ties. Vectors stored without
residues are read as if these were zero. Behind them stand the signs of the text's words, where the embedder gives any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import Embedder, Signs, Vectors, has_signs
from haversack.errors import ServiceError

__all__ = ["Quantised", "decode_vector", "embed_stored", "encode_vectors", "quantise", "refined"]

_FINER = 16
"""Steps of a residue in one step of a code."""


class Quantised(NamedTuple):
    """One vector: row ≈ scale · (code + residue / 16), dimension by dimension."""

    scale: float
    """Zero stands for a text without words."""
    codes: NDArray[np.int8]
    residues: NDArray[np.uint8]
    """From -8 to 7, two to a byte, the first in the upper half; the last half byte of an odd dimension is 0."""
    signs: Signs | None = None
    """Of the text's words; None where the embedder gives none."""


def embed_stored(embedder: Embedder, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
    """The texts' vectors, and what is stored of each."""
    if not has_signs(embedder):
        rows = embedder.embed(texts)
        return rows, encode_vectors(rows)
    rows, signs = embedder.embed_with_signs(texts)
    return rows, [data + words.tobytes() for data, words in zip(encode_vectors(rows), signs, strict=True)]


def encode_vectors(rows: Vectors) -> list[bytes]:
    """The stored bytes of each row."""
    return [
        np.float32(scale).astype("<f4").tobytes() + codes.tobytes() + residues.tobytes()
        for scale, codes, residues, _ in quantise(rows)
    ]


def decode_vector(data: bytes, dimension: int, sign_bytes: int = 0) -> Quantised | None:
    """The vector, with signs of words if those have `sign_bytes`, or None when the bytes are not those of one."""
    coarse, halves = 4 + dimension, -(-dimension // 2)
    end = coarse + halves
    whole = len(data) >= end and not (len(data) - end) % sign_bytes if sign_bytes else len(data) in {coarse, end}
    if not whole:
        return None
    scale = float(np.frombuffer(data, "<f4", 1)[0])
    if not np.isfinite(scale):
        return None
    residues = np.frombuffer(data.ljust(end, b"\0"), np.uint8, halves, coarse)
    signs = np.frombuffer(data, np.uint8, offset=end).reshape(-1, sign_bytes) if sign_bytes else None
    return Quantised(scale, np.frombuffer(data, np.int8, dimension, 4), residues, signs)


def quantise(rows: Vectors) -> list[Quantised]:
    """Each row with the scale that gives its greatest number the code 127."""
    scales = (np.abs(rows).max(axis=1, initial=0.0) / 127).astype(np.float32)
    steps = rows / np.where(scales > 0, scales, 1)[:, None]
    codes = np.rint(steps)
    finer = np.rint((steps - codes) * _FINER).clip(-_FINER // 2, _FINER // 2 - 1).astype(np.int8)
    halves = np.zeros((len(rows), rows.shape[1] + rows.shape[1] % 2), np.uint8)
    halves[:, : rows.shape[1]] = finer.view(np.uint8) & 15
    return list(map(Quantised, scales.tolist(), codes.astype(np.int8), halves[:, ::2] << 4 | halves[:, 1::2]))


def refined(codes: NDArray[np.int8], residues: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Rows of codes with their residues, in steps of the scale."""
    steps = np.empty((len(residues), 2 * residues.shape[1]), np.float32)
    steps[:, ::2], steps[:, 1::2] = residues.view(np.int8) >> 4, (residues << 4).view(np.int8) >> 4
    steps /= _FINER
    return steps[:, : codes.shape[1]] + codes


def checked(
    rows: Iterable[Iterable[float]], count: int, dimension: int | None, who: str, *, zero: bool = False
) -> Vectors:
    """Rows as unit vectors; raises ServiceError naming `who` for a wrong shape, NaN, infinity or a zero vector.

    With `zero` a vector of zeros is let through: it says that a text has no direction.
    """
    try:
        array = np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ServiceError(f"{who} answered rows that are no vectors of one length") from error
    if array.ndim != 2 or len(array) != count or (dimension is not None and array.shape[1] != dimension):  # noqa: PLR2004
        wanted = f"({count}, {dimension or 'any'})"
        raise ServiceError(f"{who} answered an array of shape {array.shape}, not {wanted}")
    if not np.isfinite(array).all():
        raise ServiceError(f"{who} answered NaN or infinite numbers")
    length = np.linalg.norm(array.astype(np.float64), axis=1, keepdims=True)
    if not (zero or (length > 0).all()):
        raise ServiceError(f"{who} answered a zero vector")
    return (array / np.where(length > 0, length, 1)).astype(np.float32)
