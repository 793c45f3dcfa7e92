"""Exact counts for encodings whose vocabulary the base install carries: OpenAI's, and Qwen 3.5's nearly so (toktok)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from haversack.tokens.batch import BatchCounter, CountBatch
from haversack.tokens.counter import CountKind
from haversack.tokens.table import TABLES, first_counter

__all__ = ["BUILT_IN", "built_in_counter", "built_in_function"]

_VOCABULARIES = {
    "cl100k_base": ("cl100k_base", CountKind.EXACT),
    "o200k_base": ("o200k_base", CountKind.EXACT),
    # Harmony adds special tokens to o200k's ranks; ordinary text counts the same, so one vocabulary serves both.
    "o200k_harmony": ("o200k_base", CountKind.EXACT),
    # Qwen's own splitting keeps marks with their letters, which this one does not: a little over for some scripts.
    "qwen3.5": ("qwen3.5", CountKind.RECONSTRUCTED),
}
BUILT_IN = frozenset(_VOCABULARIES)

_LONGEST_TOKEN = 128
"""Bytes of the longest token in cl100k and o200k (a run of spaces)."""

_FEW, _SHORT, _UNCUT = 8, 4_000, 1 << 30
"""So few texts, of so many characters together, are counted one by one: a batch costs a thread, ten times as much."""

_loading = threading.Lock()
_ready = set[str]()
"""Vocabularies that are loaded."""


class _Toktok(Protocol):
    def batch_count(self, texts: Sequence[str], encoding: str, threads: int) -> list[int]: ...

    def truncate(self, text: str, max_tokens: int, encoding: str) -> tuple[str, int]: ...


def built_in_counter(encoding: str) -> BatchCounter:
    """The counter of one name in BUILT_IN; the vocabulary is loaded when a table's first counts are used up."""
    vocabulary, kind = _VOCABULARIES[encoding]
    count = built_in_function(vocabulary)
    if kind is not CountKind.EXACT:  # it normalises, so that its cuts are not prefixes
        return BatchCounter(encoding, kind, count)

    def cut(text: str, budget: int) -> str:
        return _load(vocabulary).truncate(text, budget, vocabulary)[0]

    return BatchCounter(encoding, kind, count, longest_token=_LONGEST_TOKEN, cut=cut)


def built_in_function(vocabulary: str) -> CountBatch:
    """Counts by a vocabulary that toktok carries; special-token literals are ordinary text."""
    first = first_counter(vocabulary) if vocabulary in TABLES else None

    def count(texts: list[str]) -> list[int]:
        if first is not None and vocabulary not in _ready and (counts := first.count(texts)) is not None:
            return counts
        library = _load(vocabulary)
        if len(texts) <= _FEW and sum(map(len, texts)) <= _SHORT:
            return [library.truncate(text, _UNCUT, vocabulary)[1] for text in texts]
        # Threads pay only from tens of thousands of lines on, and this call releases the GIL anyway.
        return library.batch_count(texts, vocabulary, 1)

    return count


def _load(vocabulary: str) -> _Toktok:
    with _loading:
        return _loaded(vocabulary)


@cache
def _loaded(vocabulary: str) -> _Toktok:
    library = cast("_Toktok", import_module("toktok"))
    library.batch_count([""], vocabulary, 1)
    _ready.add(vocabulary)
    return library
