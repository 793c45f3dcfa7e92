"""Finding rows by a list of keys in few statements whose texts repeat, so that SQLite's statement cache serves them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache

from haversack.store.sqlite.rows import Row

__all__ = ["find", "meaning"]

_LAST = "\U0010ffff"
"""The last of all code points; SQLite compares texts by their bytes, which is by code points."""
_SIZES = (1, 8, 32, 64, 128, 256, 512)


def find(
    connection: sqlite3.Connection, select: str, fixed: Sequence[str], keys: Sequence[str], *, end: str = ""
) -> Iterator[Row]:
    """Rows of a `select` that ends in `… IN`; `fixed` fills the placeholders before that, `keys` the list behind it.

    `end` closes what the select left open.

    In no order; a key given twice may bring its row twice.
    """
    for start in range(0, len(keys), _SIZES[-1]):
        part = list(keys[start : start + _SIZES[-1]])
        size = next(size for size in _SIZES if size >= len(part))
        padding = part[-1:] * (size - len(part))
        yield from connection.execute(_statement(select, size, end), (*fixed, *part, *padding))


def meaning(column: str, pattern: str) -> tuple[str, list[str]]:
    """Return a condition, with its values, for what a pattern means: one text, or all that begin with a prefix."""
    if not pattern.endswith("*"):
        return f"{column} = ?", [pattern]
    prefix = pattern[:-1]
    stem = prefix.rstrip(_LAST)
    if not stem:
        return f"{column} >= ?", [prefix]
    beyond = stem[:-1] + ("\ue000" if stem[-1] == "\ud7ff" else chr(ord(stem[-1]) + 1))
    return f"{column} >= ? AND {column} < ?", [prefix, beyond]


@lru_cache(maxsize=128)
def _statement(select: str, size: int, end: str) -> str:
    return f"{select} ({', '.join('?' * size)}){end}"
