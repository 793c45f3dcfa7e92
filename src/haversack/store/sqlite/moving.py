"""What a namespace holds beside memories and turns, told and taken in when it moves from store to store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from haversack.store.plan import turn_digest
from haversack.store.port import Graves
from haversack.store.sqlite.lookup import find

__all__ = ["bury", "erased", "erased_turns", "graves_of"]


def graves_of(connection: sqlite3.Connection, namespace: str) -> Graves:
    """Tombstones in the order of the erasures, and the digests of erased turns."""
    stones = connection.execute(
        "SELECT id, fingerprint FROM tombstones WHERE namespace = ? ORDER BY changed", (namespace,)
    )
    turns = connection.execute("SELECT digest FROM erased_turns WHERE namespace = ? ORDER BY digest", (namespace,))
    return Graves(tombstones=tuple(stones.fetchall()), turns=tuple(digest for (digest,) in turns))


def erased(connection: sqlite3.Connection, namespace: str, ids: Sequence[str]) -> set[str]:
    """Which of these ids of memories and turns erasures took."""
    stones = find(connection, "SELECT id FROM tombstones WHERE namespace = ? AND id IN", (namespace,), ids)
    return {name for (name,) in stones} | erased_turns(connection, namespace, ids)


def erased_turns(connection: sqlite3.Connection, namespace: str, ids: Sequence[str]) -> set[str]:
    """Which of these ids of turns erasures took."""
    digests = {turn_digest(name): name for name in ids}
    select = "SELECT digest FROM erased_turns WHERE namespace = ? AND digest IN"
    return {digests[digest] for (digest,) in find(connection, select, (namespace,), list(digests))}


def bury(connection: sqlite3.Connection, namespace: str, graves: Graves) -> None:
    """Insert what is not there, each tombstone under the namespace's next change number."""
    connection.execute("INSERT OR IGNORE INTO sequences VALUES (?, 0, 0, 0, 0)", (namespace,))
    (value,) = connection.execute("SELECT value FROM sequences WHERE namespace = ?", (namespace,)).fetchone()
    for name, mark in graves.tombstones:
        value += connection.execute(
            "INSERT OR IGNORE INTO tombstones (namespace, id, fingerprint, changed) VALUES (?, ?, ?, ?)",
            (namespace, name, mark, value + 1),
        ).rowcount
    connection.execute("UPDATE sequences SET value = ? WHERE namespace = ?", (value, namespace))
    connection.executemany(
        "INSERT OR IGNORE INTO erased_turns (namespace, digest) VALUES (?, ?)",
        [(namespace, digest) for digest in graves.turns],
    )
