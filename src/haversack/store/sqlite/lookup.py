"""Finding rows by a list of keys in few statements whose texts repeat, so that SQLite's statement cache serves them."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from haversack.store.sqlite.rows import Row

__all__ = ["Part", "find", "find_together", "meaning"]

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
        part = _padded(keys[start : start + _SIZES[-1]])
        yield from connection.execute(_statement(select, len(part), end), (*fixed, *part))


class Part(NamedTuple):
    """One of several lists of rows that are read together."""

    columns: str
    source: str
    """A table and a condition that ends in `… IN`."""
    fixed: tuple[str, ...]
    """Values of the placeholders in `source`."""
    keys: Sequence[str]
    """Values of the list behind it."""


def find_together(connection: sqlite3.Connection, parts: Sequence[Part]) -> list[list[Row]]:
    """Return the rows of each part: all parts with few keys are read by one statement, which costs as much as one."""
    found: list[list[Row]] = [[] for _ in parts]
    few: list[tuple[int, Part]] = []
    for place, part in enumerate(parts):
        if len(part.keys) > _SIZES[-1]:
            found[place] += find(connection, f"SELECT {part.columns} FROM {part.source}", part.fixed, part.keys)
        elif part.keys:
            few.append((place, part))
    shape = tuple((place, part.columns, part.source, _size(len(part.keys))) for place, part in few)
    values = [value for _, part in few for value in (*part.fixed, *_padded(part.keys))]
    rows: Iterable[Row] = connection.execute(_together(shape), values) if few else ()
    for row in rows:
        place: int = row[0]
        found[place].append(row[1 : 1 + _width(parts[place].columns)])
    return found


@lru_cache(maxsize=128)
def _together(shape: tuple[tuple[int, str, str, int], ...]) -> str:
    """One statement for parts of such columns, sources and sizes; narrow rows are filled up with NULL."""
    widest = max(_width(columns) for _, columns, _, _ in shape)
    return " UNION ALL ".join(
        _statement(f"SELECT {place}, {columns}{', NULL' * (widest - _width(columns))} FROM {source}", size, "")
        for place, columns, source, size in shape
    )


@lru_cache(maxsize=128)
def _width(columns: str) -> int:
    return columns.count(",") + 1


def _size(count: int) -> int:
    return next(size for size in _SIZES if size >= count)


def _padded(keys: Sequence[str]) -> list[str]:
    """The keys, the last one repeated up to one of the sizes."""
    return [*keys, *[keys[-1]] * (_size(len(keys)) - len(keys))]


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
