"""Exact counts for encodings whose vocabulary the base install carries: OpenAI's, and Qwen 3.5's nearly so (toktok)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib import import_module
from typing import Protocol, cast

from haversack.tokens.batch import BatchCounter, CountBatch
from haversack.tokens.counter import FIRST, CountKind
from haversack.tokens.ranks import PATTERNS, KindUnknownError, Ranks

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


class _Toktok(Protocol):
    def batch_count(self, texts: Sequence[str], encoding: str, threads: int) -> list[int]: ...

    def truncate(self, text: str, max_tokens: int, encoding: str) -> tuple[str, int]: ...


def built_in_counter(encoding: str) -> BatchCounter:
    """The counter of one name in BUILT_IN; the library is loaded behind the first texts, or at once for a long one."""
    name, kind = _VOCABULARIES[encoding]
    vocabulary = _vocabulary(name)
    if kind is not CountKind.EXACT:  # it normalises, so that its cuts are not prefixes
        return BatchCounter(encoding, kind, vocabulary.count)
    return BatchCounter(encoding, kind, vocabulary.count, longest_token=_LONGEST_TOKEN, cut=vocabulary.cut)


def built_in_function(vocabulary: str) -> CountBatch:
    """Counts by a vocabulary that toktok carries; special-token literals are ordinary text."""
    return _vocabulary(vocabulary).count


class _Vocabulary:
    """One of the library's vocabularies; the first texts are counted by its mapped ranks, to the same counts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._first = FIRST if name in PATTERNS else 0

    def count(self, texts: list[str]) -> list[int]:
        if self._among_first(texts):
            with suppress(KindUnknownError):
                return self._ranks.count(texts)
        library = _load(self._name)
        if len(texts) <= _FEW and sum(map(len, texts)) <= _SHORT:
            return [library.truncate(text, _UNCUT, self._name)[1] for text in texts]
        # Threads pay only from tens of thousands of lines on, and this call releases the GIL anyway.
        return library.batch_count(texts, self._name, 1)

    def cut(self, text: str, budget: int) -> str:
        if self._among_first([text]):
            with suppress(KindUnknownError):
                return self._ranks.cut(text, budget)
        return _load(self._name).truncate(text, budget, self._name)[0]

    def _among_first(self, texts: list[str]) -> bool:
        if self._first > 0:
            self._first -= sum(map(len, texts))
        return self._first > 0

    @cached_property
    def _ranks(self) -> Ranks:
        return Ranks(self._name)


_vocabulary = cache(_Vocabulary)


def _load(vocabulary: str) -> _Toktok:
    with _loading:
        return _loaded(vocabulary)


@cache
def _loaded(vocabulary: str) -> _Toktok:
    # The library maps its vocabularies when it is imported, so that waits for the first count too.
    library = cast("_Toktok", import_module("toktok"))
    library.batch_count([""], vocabulary, 1)
    return library
