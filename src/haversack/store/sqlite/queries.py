"""Memories asked for by more than their ids. Each statement binds the namespace and follows an index."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime

from haversack.model.memory import Memory, Stage
from haversack.model.query import Filter
from haversack.model.times import micros
from haversack.store.port import Said
from haversack.store.sqlite.lookup import find
from haversack.store.sqlite.rows import MEMORY_COLUMNS, memory_of, sound

__all__ = ["derived", "parts", "said", "select", "sequence", "superseded"]

_PAGE = 1_000
_SELECT = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE namespace = ?"
_SEQUENCE = "SELECT value FROM sequences WHERE namespace = ?"
_SAID = (
    f"SELECT value, fingerprint, {MEMORY_COLUMNS} FROM (SELECT namespace AS place, value FROM sequences"
    " WHERE namespace = ?) LEFT JOIN memories ON namespace = place"
    f" AND stage <> '{Stage.DELETED}' AND superseded_by IS NULL AND fingerprint IN"
)
_DERIVED = f"{_SELECT} AND id IN (SELECT memory FROM sources WHERE namespace = ? AND source IN"
_TAGGED = "id IN (SELECT memory FROM tags WHERE namespace = ? AND tag = ?)"


def select(
    connection: sqlite3.Connection,
    namespace: str,
    chosen: Filter,
    *,
    now: datetime | None,
    after: int,
    limit: int | None,
) -> Iterator[Memory]:
    """Yield what passes the filter; what SQL cannot tell exactly is checked on the rows."""
    conditions, values = _conditions(namespace, chosen, live=now is not None)
    changed = "+changed" if chosen.tags else "changed"  # what has a tag is found by its index, and sorted
    statement = f"{_SELECT} AND {changed} > ?{conditions} ORDER BY {changed} LIMIT ?"
    page = _PAGE if limit is None else min(_PAGE, limit)
    given = 0
    while page and (limit is None or given < limit):
        rows = connection.execute(statement, (namespace, after, *values, page)).fetchall()
        for memory in map(memory_of, rows):
            after = memory.changed
            if (chosen.unmet_by(memory) if now is None else chosen.reason_against(memory, now)) is None:
                given += 1
                yield memory
            if given == limit:
                return
        if len(rows) < page:
            return
        page = _PAGE


def superseded(connection: sqlite3.Connection, namespace: str) -> list[Memory]:
    """Return what another memory took the place of, the newest first."""
    ended = f"{_SELECT} AND superseded_by IS NOT NULL AND stage <> '{Stage.DELETED}' ORDER BY born DESC"
    rows = connection.execute(ended, (namespace,))
    return list(map(memory_of, rows))


def sequence(connection: sqlite3.Connection, namespace: str) -> int:
    """Return the namespace's change sequence."""
    row = connection.execute(_SEQUENCE, (namespace,)).fetchone()
    return 0 if row is None else sound(row, (int,), "sequence", namespace)[0]


def said(connection: sqlite3.Connection, namespace: str, fingerprints: Sequence[str]) -> Said:
    """Return the change sequence and the live memories of these fingerprints, the last born of several.

    One statement reads both at one moment; of several statements the first tells the sequence.
    """
    if not fingerprints:
        return Said(sequence=sequence(connection, namespace))
    rows = list(find(connection, _SAID, (namespace,), fingerprints))
    number = sound(rows[0][:1], (int,), "sequence", namespace)[0] if rows else 0
    marked = [(sound(row[1:2], (str,), "memory", row[2])[0], memory_of(row[2:])) for row in rows if row[2] is not None]
    return Said(sequence=number, memories=dict(sorted(marked, key=lambda pair: pair[1].born)))


def derived(connection: sqlite3.Connection, namespace: str, sources: Sequence[str]) -> list[Memory]:
    """Return what was made of these turns and memories, by birth."""
    found = {row[0]: row for row in find(connection, _DERIVED, (namespace, namespace), sources, end=")")}
    return sorted(map(memory_of, found.values()), key=lambda memory: memory.born)


def parts(connection: sqlite3.Connection, namespace: str, texts: Sequence[str]) -> list[Memory]:
    """Return the parts of these texts, by birth."""
    found = {row[0]: row for row in find(connection, f"{_SELECT} AND text IN", (namespace,), texts)}
    return sorted(map(memory_of, found.values()), key=lambda memory: memory.born)


def _conditions(namespace: str, chosen: Filter, *, live: bool) -> tuple[str, list[str | int]]:
    """Conditions that let everything through that passes the filter, and little else."""
    stated: list[tuple[str, list[str | int]]] = []
    if live:
        stated.append((f"stage <> '{Stage.DELETED}'", []))
    if chosen.kinds is not None:
        kinds = ", ".join(f"'{kind.value}'" for kind in sorted(chosen.kinds))
        stated.append((f"kind IN ({kinds})", []))
    if chosen.session is not None:
        stated.append(("session = ?", [chosen.session]))
    if chosen.since is not None:
        stated.append(("event_time >= ?", [micros(chosen.since)]))
    if chosen.until is not None:
        stated.append(("event_time < ?", [micros(chosen.until)]))
    # JSON functions of SQLite, by which old rows came to their tags as well, end a text at a NUL: what holds one is
    # compared on the rows alone.
    stated.extend((_TAGGED, [namespace, tag]) for tag in sorted(chosen.tags) if "\0" not in tag)
    stated.extend(
        ("EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ?)", [key])
        for key, _ in chosen.where
        if "\0" not in key
    )
    values = [value for _, values in stated for value in values]
    return "".join(f" AND {condition}" for condition, _ in stated), values
