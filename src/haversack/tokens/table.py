"""Exact counts of ordinary western text by a mapped table, for the first texts of a process.

The library that counts for good unpacks its vocabulary first, which takes a new process longer than everything else
that it does. These tables hold the part of a vocabulary that texts of `_LETTERS` and `_SIGNS` can meet; `tabulate`
makes them. Splitting and merging are those of byte-pair encoding as tiktoken defines them.
"""

from __future__ import annotations

import mmap
import re
import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from zlib import crc32

__all__ = ["ALPHABET", "HEAD", "TABLES", "FirstCounter", "first_counter", "place_of"]

_UPPER, _LOWER = "A-Z\u00c0-\u00d6\u00d8-\u00de", "a-z\u00df-\u00f6\u00f8-\u00ff"
_SIGNS = "\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u2022\u00b7\u20ac\u00a3\u00a7\u00b0\u00ab\u00bb\u00d7\u00f7\u2192"
ALPHABET = rf"\t\n\r -~{_UPPER}{_LOWER}{_SIGNS}"
"""The characters of texts that are counted here, as a class of a pattern: none is a space or a number beyond ASCII."""
_ORDINARY = re.compile(f"[{ALPHABET}]*+")
_SPACE, _LETTER = r" \t\n\r", _UPPER + _LOWER
_ENDINGS = "'(?i:s|t|re|ve|m|ll|d)"
_TAIL = rf"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
_SPLITS = {
    "o200k_base": (
        rf"[^\r\n{_LETTER}0-9]?[{_UPPER}]*[{_LOWER}]+(?:{_ENDINGS})?|[^\r\n{_LETTER}0-9]?[{_UPPER}]+[{_LOWER}]*(?:{_ENDINGS})?"
        rf"|[0-9]{{1,3}}| ?[^{_SPACE}{_LETTER}0-9]+[\r\n/]*|[{_SPACE}]*[\r\n]+{_TAIL}"
    ),
    "cl100k_base": (
        rf"{_ENDINGS}|[^\r\n{_LETTER}0-9]?[{_LETTER}]+|[0-9]{{1,3}}| ?[^{_SPACE}{_LETTER}0-9]+[\r\n]*"
        rf"|[{_SPACE}]+\Z|[{_SPACE}]*[\r\n]{_TAIL}"
    ),
}
TABLES = frozenset(_SPLITS)
"""Vocabularies that have a table."""
HEAD = 4
"""Bytes of each number in a table. It holds: how many tokens and slots there are; by slot a token's place plus 1, or 0;
the end of each token among the bytes; the bytes of all tokens, in the order in which they are merged."""
_MOST = 40_000
"""Characters that one process counts here: from then on the library's vocabulary is worth its loading."""
_LONGEST = 64
"""Bytes of a piece that is merged here, for the time of that grows with the square of the length."""
_NONE = 1 << 32


def place_of(token: bytes, slots: int) -> int:
    """Return the slot at which the search for a token begins; `slots` is a power of two."""
    return crc32(token) & (slots - 1)


class _Parts(NamedTuple):
    slots: memoryview
    ends: memoryview
    tokens: memoryview


class FirstCounter:
    """Counts texts until they are many; safe in threads."""

    def __init__(self, vocabulary: str) -> None:
        self._vocabulary = vocabulary
        self._left = _MOST
        self._lock = Lock()

    def count(self, texts: Sequence[str]) -> list[int] | None:
        """Return the tokens of each text; None where the library has to count, and for good once they are many."""
        if self._left <= 0 or sys.byteorder != "little":  # as the tables are
            return None
        size = sum(map(len, texts))
        with self._lock:
            self._left -= size
        if self._left < 0 or not all(map(_ORDINARY.fullmatch, texts)):
            return None
        pieces = _split(self._vocabulary).findall
        counts = [[_tokens(self._vocabulary, piece) for piece in pieces(text)] for text in texts]
        return None if any(0 in each for each in counts) else list(map(sum, counts))


@cache
def first_counter(vocabulary: str) -> FirstCounter:
    """Return the one counter of this process."""
    return FirstCounter(vocabulary)


@cache
def _split(vocabulary: str) -> re.Pattern[str]:
    return re.compile(_SPLITS[vocabulary])


@cache
def _parts(vocabulary: str) -> _Parts:
    with Path(__file__).with_name(f"{vocabulary}.table").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    tokens, slots = mapped[: 2 * HEAD].cast("I")
    ends = 2 * HEAD + slots * HEAD
    return _Parts(
        mapped[2 * HEAD : ends].cast("I"),
        mapped[ends : ends + tokens * HEAD].cast("I"),
        mapped[ends + tokens * HEAD :],
    )


@lru_cache(4_096)
def _tokens(vocabulary: str, piece: str) -> int:
    """Return how many tokens one piece has; 0 for one that is too long to be merged here."""
    parts, encoded = _parts(vocabulary), piece.encode()
    if _rank(parts, encoded) < _NONE:
        return 1
    return _merged(parts, encoded) if len(encoded) <= _LONGEST else 0


def _merged(parts: _Parts, piece: bytes) -> int:
    """Merge the two neighbours that make the earliest token, until no two make one."""
    ends = [*range(len(piece) + 1)]
    ranks = [_rank(parts, piece[at : at + 2]) for at in range(len(piece) - 1)]
    while (first := min(ranks, default=_NONE)) < _NONE:
        at = ranks.index(first)
        del ends[at + 1], ranks[at]
        for near in range(max(0, at - 1), min(at + 1, len(ranks))):
            ranks[near] = _rank(parts, piece[ends[near] : ends[near + 2]])
    return len(ends) - 1


def _rank(parts: _Parts, token: bytes) -> int:
    """Return a token's place in the order of merging; _NONE when the vocabulary has no such token."""
    slots, ends, tokens = parts
    at = place_of(token, len(slots))
    while found := slots[at]:
        start = ends[found - 2] if found > 1 else 0
        if tokens[start : ends[found - 1]].tobytes() == token:
            return found
        at = (at + 1) & (len(slots) - 1)
    return _NONE
