"""Count by a mapped table of merge ranks, which needs no unpacking: for the first texts of a process.

`ranks.md` says where the files come from; `bench/tokens/ranks.py` writes them.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from zlib import crc32

__all__ = ["BUCKETS", "FOLDER", "KINDS", "PATTERNS", "KindUnknownError", "Ranks", "entry"]

FOLDER = Path(__file__).parent
BUCKETS = 1 << 14
"""Buckets of tokens by hash: a dozen tokens each, which one search of bytes goes through."""

KINDS = "Ààª\u03000\tſ!\ufffe"
"""What the patterns see for a character beyond ASCII, by its kind: upper and title case, lower case, other letters,
marks, numbers, white space, the long s (an s in any case), all else, and what was unassigned as the table was made."""
_UNKNOWN = KINDS[-1]

_LETTER, _SPACE = "A-Za-zÀàªſ", "\t-\r "
_UPPER, _LOWER = "A-ZÀª\u0300", "a-zàſª\u0300"
_LEAD = rf"[^\r\n{_LETTER}0-9]?"
_ENDING = "'(?:[sStTmMdDſ]|[rRvV][eE]|[lL][lL])"


@cache
def _cl100k_base() -> re.Pattern[str]:
    return re.compile(
        rf"{_ENDING}|{_LEAD}[{_LETTER}]+|[0-9]{{1,3}}| ?[^{_SPACE}{_LETTER}0-9]+[\r\n]*"
        rf"|[{_SPACE}]++\Z|[{_SPACE}]*[\r\n]|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]"
    )


@cache
def _o200k_base() -> re.Pattern[str]:
    return re.compile(
        rf"{_LEAD}[{_UPPER}]*[{_LOWER}]+(?:{_ENDING})?|{_LEAD}[{_UPPER}]+[{_LOWER}]*(?:{_ENDING})?|[0-9]{{1,3}}"
        rf"| ?[^{_SPACE}{_LETTER}0-9]+[\r\n/]*|[{_SPACE}]*[\r\n]+|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
    )


PATTERNS = {"cl100k_base": _cl100k_base, "o200k_base": _o200k_base}
"""How each vocabulary splits a text (tiktoken's patterns), over ASCII and KINDS; compiled at the first count."""


class KindUnknownError(ValueError):
    """A text holds a character that the table of kinds does not know: a lone surrogate or a new one."""


class Ranks:
    """Counts and cuts as the vocabulary's own library does. Keeps nothing of what it counted."""

    def __init__(self, vocabulary: str) -> None:
        with (FOLDER / f"{vocabulary}.ranks").open("rb") as file:
            self._file = mmap(file.fileno(), 0, access=ACCESS_READ)
        self._pattern = PATTERNS[vocabulary]()

    def count(self, texts: list[str]) -> list[int]:
        """Tokens of each text. Raise KindUnknownError where the split is not known."""
        price = cache(self._price)  # for this call alone: no word is kept
        return [sum(map(price, self._pieces(text))) for text in texts]

    def cut(self, text: str, budget: int) -> str:
        """The characters that stand whole within the first `budget` tokens."""
        place = 0
        for piece in self._pieces(text):
            ends = self._tokens(piece)
            if len(ends) > budget:
                within = piece.encode()[: ends[budget - 1] if budget else 0]
                return text[: place + len(within.decode(errors="ignore"))]
            place, budget = place + len(piece), budget - len(ends)
        return text

    def _pieces(self, text: str) -> list[str]:
        if text.isascii():
            return self._pattern.findall(text)
        shape = text.translate(_kinds())
        if _UNKNOWN in shape:
            msg = "a character of unknown kind"
            raise KindUnknownError(msg)
        ends = accumulate(map(len, self._pattern.findall(shape)), initial=0)
        return [text[start:end] for start, end in pairwise(ends)]

    def _price(self, piece: str) -> int:
        return len(self._tokens(piece))

    def _tokens(self, piece: str) -> list[int]:
        """Where each token of a piece ends, in bytes: most pieces are one token."""
        data = piece.encode()
        return [len(data)] if len(data) == 1 or self._rank(data) is not None else list(self._merged(data))

    def _merged(self, data: bytes) -> Iterator[int]:
        """Merge the pair of the lowest rank until none is left, the leftmost first: n log n by a heap."""
        size = len(data)
        ends = list(range(1, size + 1))
        """Where the part that begins at a place ends; 0 where none begins."""
        starts = list(range(-1, size))
        """Where the part that ends at a place begins."""
        heap: list[tuple[int, int, int, int]] = []

        def weigh(left: int) -> None:
            middle = ends[left]
            if middle < size and (rank := self._rank(data[left : ends[middle]])) is not None:
                heappush(heap, (rank, left, middle, ends[middle]))

        for place in range(size - 1):
            weigh(place)
        while heap:
            _, left, middle, right = heappop(heap)
            if ends[left] != middle or ends[middle] != right:
                continue  # one of the two has merged with another since
            ends[left], ends[middle], starts[right] = right, 0, left
            weigh(left)
            if left:
                weigh(starts[left])
        return (end for end in ends if end)

    def _rank(self, token: bytes) -> int | None:
        bucket = 4 * _bucket(token)
        start, end = struct.unpack_from("<II", self._file, bucket)
        framed = _framed(token)
        place = self._file.find(framed, start, end)
        if place < 0:
            return None
        place += len(framed)
        high, middle, low = self._file[place : place + 3]
        return high << 14 | middle << 7 | low


def entry(token: bytes, rank: int) -> tuple[int, bytes]:
    """A token's bucket, and what stands for it there. No byte of a rank is 255, so that none looks like a frame."""
    return _bucket(token), _framed(token) + bytes((rank >> 14, rank >> 7 & 127, rank & 127))


def _bucket(token: bytes) -> int:
    return crc32(token) % BUCKETS


def _framed(token: bytes) -> bytes:
    """UTF-8 never holds the byte 255, and the token of that byte alone is not in the table."""
    return b"\xff%b\xff" % token


class _Kinds(dict[int, int]):
    """What `str.translate` puts in a character's place; looked up once for each character met."""

    def __init__(self, runs: tuple[int, ...]) -> None:
        super().__init__(zip(range(128), range(128), strict=True))
        self._runs = runs

    def __missing__(self, code: int) -> int:
        run = self._runs[bisect_right(self._runs, code << 4 | 15) - 1]
        kind = self[code] = ord(KINDS[run & 15])
        return kind


@cache
def _kinds() -> _Kinds:
    # Each run of characters of one kind: its first code point and, in the last four bits, the kind's place in KINDS.
    data = (FOLDER / "kinds.bin").read_bytes()
    return _Kinds(struct.unpack(f"<{len(data) // 4}I", data))
