"""An index as bytes and back, so that a cold start reads arrays, not texts. Pure: who stores them is not known here.

Parts of at most 16 MB; the first begins with a JSON header that lists every array with its type, shape and place.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec
import numpy as np
from numpy.typing import NDArray

from haversack.embed.embedder import WordVectors
from haversack.recall.columns import SCHEMA, WIDE
from haversack.recall.index import Index
from haversack.recall.names import Names
from haversack.recall.postings import Postings, Run

__all__ = ["FORMAT", "dump", "load"]

FORMAT = 7
"""Changes whenever an index of the same memories would hold other arrays."""
_PART = 16_000_000
_ALIGNED = 16
_LENGTH = struct.Struct("<Q")


class _Array(msgspec.Struct, frozen=True):
    name: str
    kind: str
    shape: tuple[int, ...]
    start: int
    """Bytes from the end of the header."""


class _Header(msgspec.Struct, frozen=True):
    format: int
    dimension: int
    soft: bool
    upto: int
    runs: tuple[int, int]
    """How many runs of words and of facets."""
    ids: list[str]
    sessions: list[str]
    speakers: list[str]
    names: list[tuple[int, ...]]
    arrays: list[_Array]
    sign_bytes: int = 0


def dump(index: Index) -> list[bytes]:
    """The index as parts. It must hold no row that is gone: what was erased must not be written again."""
    if index.gone:
        raise ValueError("an index with gone rows is built again before it is dumped")
    words, facets = index.words.runs(), index.facets.runs()
    arrays = dict(_arrays(index, words, facets))
    sizes = [-(-array.nbytes // _ALIGNED) * _ALIGNED for array in arrays.values()]
    starts = list(accumulate(sizes, initial=0))
    header = _Header(
        format=FORMAT,
        dimension=index.columns.dimension,
        soft=index.vocabulary is not None,
        upto=index.upto,
        runs=(len(words), len(facets)),
        ids=index.ids[: index.columns.rows],
        sessions=index.session_names[: len(index.session_length)],
        speakers=list(index.speakers),
        names=list(index.names),
        arrays=[
            _Array(name, array.dtype.str, array.shape, start)
            for (name, array), start in zip(arrays.items(), starts, strict=False)
        ],
        sign_bytes=index.signs.width,
    )
    head = msgspec.json.encode(header)
    head += b" " * (-(len(head) + _LENGTH.size) % _ALIGNED)
    blocks = [array.tobytes().ljust(size, b"\0") for array, size in zip(arrays.values(), sizes, strict=True)]
    data = b"".join([_LENGTH.pack(len(head)), head, *blocks])
    return [data[start : start + _PART] for start in range(0, len(data), _PART)]


def load(
    parts: Sequence[bytes], dimension: int, vocabulary: WordVectors | None, *, sign_bytes: int = 0
) -> Index | None:
    """The index, or None when the parts are not of this format, these dimensions and kind, or not whole."""
    data = bytearray().join(parts)
    try:
        (size,) = _LENGTH.unpack_from(data)
        header = msgspec.json.decode(memoryview(data)[_LENGTH.size : _LENGTH.size + size], type=_Header)
        kind = (header.format, header.dimension, header.sign_bytes, header.soft)
        if kind != (FORMAT, dimension, sign_bytes, vocabulary is not None):
            return None
        arrays = {array.name: _view(data, _LENGTH.size + size, array) for array in header.arrays}
        return _rebuild(header, arrays, vocabulary)
    except (struct.error, msgspec.DecodeError, ValueError, KeyError):
        return None


def _arrays(index: Index, words: Sequence[Run], facets: Sequence[Run]) -> Iterator[tuple[str, NDArray[np.generic]]]:
    yield from index.columns.arrays().items()
    yield "tails", np.array(index.tails, np.int64)
    yield "session_length", np.array(index.session_length, np.float64)
    flat, ends = index.pieces.arrays()
    yield "pieces", flat
    yield "piece_ends", ends
    if index.signs.width:
        yield from index.signs.arrays().items()
    for name, runs in (("words", words), ("facets", facets)):
        for number, run in enumerate(runs):
            for field in ("keys", "starts", "rows", "counts"):
                yield f"{name}.{number}.{field}", getattr(run, field)


def _view(data: bytearray, start: int, array: _Array) -> NDArray[np.generic]:
    count = int(np.prod(array.shape, dtype=np.int64))
    return np.frombuffer(data, np.dtype(array.kind), count, start + array.start).reshape(array.shape)


def _rebuild(header: _Header, arrays: dict[str, NDArray[np.generic]], vocabulary: WordVectors | None) -> Index:
    index = Index(header.dimension, vocabulary, header.sign_bytes)
    index.names = Names(header.names)
    index.columns.load({name: arrays[name] for name in (*SCHEMA, *WIDE)})
    index.pieces.load(arrays["pieces"], arrays["piece_ends"])  # pyright: ignore[reportArgumentType] - as dumped
    if header.sign_bytes:
        index.signs.load(arrays)
    index.words, index.facets = (
        Postings([_run(arrays, f"{name}.{number}") for number in range(count)])
        for name, count in zip(("words", "facets"), header.runs, strict=True)
    )
    index.take_over(
        ids=header.ids,
        sessions=header.sessions,
        speakers=header.speakers,
        tails=arrays["tails"].tolist(),
        session_length=arrays["session_length"].tolist(),
        upto=header.upto,
    )
    return index


def _run(arrays: dict[str, NDArray[np.generic]], name: str) -> Run:
    fields = (arrays[f"{name}.{field}"] for field in ("keys", "starts", "rows", "counts"))
    return Run(*fields)  # pyright: ignore[reportArgumentType] - as dumped
