"""Finding rows by a list of keys in few statements whose texts repeat, so that SQLite's statement cache serves them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache

from haversack.store.sqlite.rows import Row

__all__ = ["find"]

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


@lru_cache(maxsize=128)
def _statement(select: str, size: int, end: str) -> str:
    return f"{select} ({', '.join('?' * size)}){end}"
