"""Rows by keys: parts that are read together answer as each alone would."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from haversack.store.sqlite.lookup import Part, find, find_together

MANY = [f"k{number}" for number in range(600)]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute("CREATE TABLE one (place TEXT, key TEXT, number INTEGER, share REAL, data BLOB)")
        made.execute("CREATE TABLE two (place TEXT, key TEXT)")
        made.executemany("INSERT INTO one VALUES ('n', ?, 7, 0.5, x'00ff')", [(key,) for key in MANY])
        made.executemany("INSERT INTO two VALUES (?, ?)", [("n", "a"), ("m", "a"), ("n", "7")])
        yield made


def test_rows_come_by_part_with_their_own_types_and_widths(connection: sqlite3.Connection) -> None:
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    wide = Part("key, number, share, data", "one WHERE place = ? AND key IN", ("n",), ["k1", "k2", "x"])
    narrow = Part("key", "two WHERE place = ? AND key IN", ("n",), ["a", "7"])
    nothing = Part("key", "two WHERE place = ? AND key IN", ("n",), [])
    found = find_together(connection, [narrow, nothing, wide])
    assert sorted(found[0]) == [("7",), ("a",)]
    assert found[1] == []
    assert sorted(found[2]) == [("k1", 7, 0.5, b"\x00\xff"), ("k2", 7, 0.5, b"\x00\xff")]
    assert len(asked) == 1


def test_more_keys_than_one_statement_takes_are_read_too(connection: sqlite3.Connection) -> None:
    many = Part("key", "one WHERE place = ? AND key IN", ("n",), MANY)
    few = Part("key", "two WHERE place = ? AND key IN", ("m",), ["a"])
    first, second = find_together(connection, [many, few])
    assert sorted(set(first)) == sorted((key,) for key in MANY)
    assert second == [("a",)]
    assert set(first) == set(find(connection, "SELECT key FROM one WHERE place = ? AND key IN", ("n",), MANY))


def test_nothing_asked_asks_nothing(connection: sqlite3.Connection) -> None:
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    assert find_together(connection, []) == []
    assert find_together(connection, [Part("key", "two WHERE key IN", (), [])]) == [[]]
    assert asked == []
