"""Write the files by which the first texts of a process are counted: `python -m bench.tokens.ranks [FOLDER]`.

The ranks come from the vocabularies that toktok carries, the kinds of characters from Unicode 14 (Python 3.11).
"""

from __future__ import annotations

import struct
import sys
import unicodedata
from itertools import accumulate
from pathlib import Path

import toktok

from haversack.tokens.ranks import BUCKETS, FOLDER, KINDS, PATTERNS, entry

_KINDS = {"Lu": 0, "Lt": 0, "Ll": 1, "Lm": 2, "Lo": 2, "M": 3, "N": 4, "Cn": 8, "Cs": 8}
_SPACE, _LONG_S, _ELSE = 5, 6, 7
_WHITE_SPACE = frozenset((0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
"""Unicode's White_Space beyond ASCII."""


def main() -> None:
    """Write one file for each vocabulary, and one for the kinds of characters."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for vocabulary in PATTERNS:
        tokens: list[bytes] = toktok._encoding(vocabulary).token_byte_values()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - it alone tells the tokens
        (folder / f"{vocabulary}.ranks").write_bytes(ranks(tokens))
    (folder / "kinds.bin").write_bytes(kinds())


def ranks(tokens: list[bytes]) -> bytes:
    """Where each bucket begins and the last one ends, then the buckets. Nothing merges to a single byte: none is in."""
    buckets = [b""] * BUCKETS
    for rank, token in enumerate(tokens):
        if len(token) > 1:
            bucket, data = entry(token, rank)
            buckets[bucket] += data
    starts = accumulate(map(len, buckets), initial=4 * (BUCKETS + 1))
    return struct.pack(f"<{BUCKETS + 1}I", *starts) + b"".join(buckets)


def kinds() -> bytes:
    """Each run of characters of one kind."""
    of_each = [_kind(code) for code in range(sys.maxunicode + 1)]
    changes = [code for code, kind in enumerate(of_each) if not code or kind != of_each[code - 1]]
    return struct.pack(f"<{len(changes)}I", *(code << 4 | of_each[code] for code in changes))


def _kind(code: int) -> int:
    if code in _WHITE_SPACE:
        return _SPACE
    if chr(code) == KINDS[_LONG_S]:
        return _LONG_S
    category = unicodedata.category(chr(code))
    return _KINDS.get(category, _KINDS.get(category[0], _ELSE))


if __name__ == "__main__":
    main()
