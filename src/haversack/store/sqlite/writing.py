"""One batch carried out inside the caller's transaction: read what its rules need, write what they decide."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypedDict

from haversack.errors import ConflictError
from haversack.model.memory import Kind, Memory
from haversack.model.times import micros
from haversack.store.plan import Found, HeldMemory, HeldTurn, Needs, Writes, decide, held, needs
from haversack.store.port import BY_SESSION, SEGMENT, Applied, Batch, RecordKey
from haversack.store.sqlite.lookup import find
from haversack.store.sqlite.rows import (
    MEMORY_COLUMNS,
    STORED_ALONE,
    TURN_COLUMNS,
    Row,
    held_turn_of,
    memory_of,
    place_of,
    row_of_memory,
    row_of_turn,
    sound,
)
from haversack.store.sqlite.tables import RECORD_TABLES, collections_in, table_of

__all__ = ["carry_out"]

_MEMORY_NAMES = f"{MEMORY_COLUMNS}, {STORED_ALONE}".split(", ")
_INSERT_MEMORY = (
    f"INSERT INTO memories ({', '.join(_MEMORY_NAMES)}, namespace) VALUES ({', '.join('?' * len(_MEMORY_NAMES))}, ?)"
)
_UPDATE_MEMORY = (
    f"UPDATE memories SET ({', '.join(_MEMORY_NAMES)}) = ({', '.join('?' * len(_MEMORY_NAMES))}), told = NULL"
    " WHERE namespace = ? AND id = ?"
)
_RESTAGE = (
    "UPDATE memories SET stage = ?, told = coalesce(told, changed), changed = ?"
    " WHERE namespace = ? AND changed = ? AND id = ?"
)
_INSERT_TURN = f"INSERT INTO turns ({TURN_COLUMNS}, namespace) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_RECOUNT = (
    "UPDATE sessions SET (turns, first_at, last_at) ="
    " (SELECT count(*), min(at), max(at) FROM turns WHERE turns.namespace = sessions.namespace"
    " AND turns.session = sessions.session)"
    " WHERE namespace = ? AND session = ?"
)
_PUT_SESSION = (
    "INSERT OR REPLACE INTO sessions (namespace, session, next, turns, first_at, last_at) VALUES (?, ?, ?, ?, ?, ?)"
)
_PUT_PRICE = (
    "INSERT INTO prices (namespace, memory, encoding, tokens) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (namespace, memory, encoding) DO UPDATE SET tokens = excluded.tokens"
)
_PUT_VECTOR = (
    "INSERT INTO vectors (namespace, memory, model, data) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (namespace, memory, model) DO UPDATE SET data = excluded.data"
)
_PUT_RECORD = (
    "INSERT INTO {table} (namespace, collection, key, version, value, about, session) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (namespace, collection, key) DO UPDATE SET (version, value, about, session)"
    " = (excluded.version, excluded.value, excluded.about, excluded.session)"
)
_COUNT_ON = (
    "INSERT INTO sequences (namespace, value, reset, erasures, scrubbed) VALUES (?, ?, ?, ?, 0)"
    " ON CONFLICT (namespace) DO UPDATE SET value = excluded.value, erasures = erasures + excluded.erasures"
)
_DROP_RECORD = "DELETE FROM {table} WHERE namespace = ? AND collection = ? AND key = ?"
_HELD_MEMORY = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE namespace = ?"
_LATER = f"{_HELD_MEMORY} AND changed > ? AND kind <> '{Kind.PASSAGE}'"
_BURIED = "SELECT fingerprint FROM tombstones WHERE namespace = ? AND changed > ?"
_HELD_TURN = "SELECT id, session, position, key FROM turns WHERE namespace = ?"
_TAG = "INSERT OR IGNORE INTO tags (namespace, tag, memory) VALUES (?, ?, ?)"
_UNTAG = "DELETE FROM tags WHERE namespace = ? AND memory = ?"
_LINK = "INSERT OR IGNORE INTO sources (namespace, source, memory) VALUES (?, ?, ?)"
_UNLINK = "DELETE FROM sources WHERE namespace = ? AND source = ? AND memory = ?"
_HOLDS_WORDS = (
    "memories",
    "prices",
    "vectors",
    "turns",
    "sessions",
    "sources",
    "tags",
    *RECORD_TABLES,
)


_GRAVES = ("erased_turns", "tombstones")


def carry_out(connection: sqlite3.Connection, namespace: str, batch: Batch) -> Applied:
    """Do all that the batch says, or raise ConflictError; the caller begins, and commits or rolls back."""
    writes = decide(batch, _read(connection, namespace, needs(batch)))
    _write(connection, namespace, writes)
    return writes.applied


def _read(connection: sqlite3.Connection, namespace: str, wanted: Needs) -> Found:
    row = connection.execute("SELECT value FROM sequences WHERE namespace = ?", (namespace,)).fetchone()
    turns = {turn.id: turn for turn in _held_turns(connection, namespace, wanted)}
    sessions = sorted({*wanted.places, *(turn.session for turn in turns.values())}) if wanted.places or turns else []
    return Found(
        sequence=0 if row is None else sound(row, (int,), "sequence", namespace)[0],
        memories={held.id: held for held in _held_memories(connection, namespace, wanted)},
        numbers=dict(
            sound(row, (str, int), "memory", row[0])
            for row in _among(connection, namespace, "id, changed FROM memories", "id", wanted.numbers)
        ),
        tombstones={name for (name,) in _among(connection, namespace, "id FROM tombstones", "id", wanted.tombstones)},
        turns=turns,
        places={
            row[0]: place_of(row)
            for row in _among(
                connection, namespace, "session, next, turns, first_at, last_at FROM sessions", "session", sessions
            )
        },
        digests={
            mark for (mark,) in _among(connection, namespace, "digest FROM erased_turns", "digest", wanted.digests)
        },
        records=dict(_versions(connection, namespace, wanted.records)),
        **_said_since(connection, namespace, None if row is None or wanted.since == row[0] else wanted.since),
    )


class _Said(TypedDict, total=False):
    later: list[Memory]
    buried: list[str]


def _said_since(connection: sqlite3.Connection, namespace: str, since: int | None) -> _Said:
    if since is None:
        return {}
    buried = connection.execute(_BURIED, (namespace, since))
    later = connection.execute(_LATER, (namespace, since))
    return {"later": list(map(memory_of, later)), "buried": [mark for (mark,) in buried]}


def _among(
    connection: sqlite3.Connection, namespace: str, select: str, column: str, values: Sequence[str]
) -> Iterable[Row]:
    return find(connection, f"SELECT {select} WHERE namespace = ? AND {column} IN", (namespace,), values)


def _held_memories(connection: sqlite3.Connection, namespace: str, wanted: Needs) -> Iterable[HeldMemory]:
    rows = (
        connection.execute(f"{_HELD_MEMORY} ORDER BY born", (namespace,))
        if wanted.everything
        else find(connection, f"{_HELD_MEMORY} AND id IN", (namespace,), wanted.memories)
    )
    yield from map(held, map(memory_of, rows))


def _held_turns(connection: sqlite3.Connection, namespace: str, wanted: Needs) -> Iterable[HeldTurn]:
    if wanted.everything:
        yield from map(held_turn_of, connection.execute(_HELD_TURN, (namespace,)))
    by_session = sorted(wanted.keys)
    yield from map(held_turn_of, find(connection, f"{_HELD_TURN} AND id IN", (namespace,), wanted.turns))
    yield from map(held_turn_of, find(connection, f"{_HELD_TURN} AND session IN", (namespace,), wanted.sessions))
    for session, keys in groupby(by_session, key=lambda pair: pair[0]):
        of_session = f"{_HELD_TURN} AND session = ? AND key IN"
        rows = find(connection, of_session, (namespace, session), [key for _, key in keys])
        yield from map(held_turn_of, rows)


def _versions(
    connection: sqlite3.Connection, namespace: str, wanted: Sequence[RecordKey]
) -> Iterable[tuple[RecordKey, int]]:
    by_collection = sorted(wanted, key=lambda address: address.collection)
    for collection, addresses in groupby(by_collection, key=lambda address: address.collection):
        table = table_of(namespace, collection)
        select = f"SELECT key, version FROM {table} WHERE namespace = ? AND collection = ? AND key IN"
        for key, version in find(connection, select, (namespace, collection), [one.key for one in addresses]):
            yield RecordKey(collection=collection, key=key), version


def _write(connection: sqlite3.Connection, namespace: str, writes: Writes) -> None:
    if writes.erased:
        _erase(connection, namespace, writes)
    _each(connection, _UNLINK, ((namespace, *link) for link in writes.unlinked))
    _each(connection, _INSERT_TURN, ((*row_of_turn(turn), namespace) for turn in writes.turns))
    _each(
        connection,
        _PUT_SESSION,
        (
            (namespace, session, place.next, place.turns, *(None if at is None else micros(at) for at in place[2:]))
            for session, place in writes.places.items()
        ),
    )
    _each(connection, _RECOUNT, ((namespace, session) for session in writes.recounted))
    _each(
        connection,
        _INSERT_MEMORY,
        ((*row_of_memory(one, one.born, one.changed), namespace) for one in writes.inserts),
    )
    _each(
        connection,
        _UPDATE_MEMORY,
        ((*row_of_memory(one, one.born, one.changed), namespace, one.id) for one in writes.updates),
    )
    _each(connection, _LINK, ((namespace, *link) for link in writes.linked))
    _retag(connection, namespace, writes)
    _devalue(connection, namespace, writes.devalued)
    _restage(connection, namespace, writes)
    prices = ((namespace, one.memory, one.encoding, one.tokens) for one in writes.prices)
    _each(connection, _PUT_PRICE, prices)
    _each(connection, _PUT_VECTOR, ((namespace, one.memory, one.model, one.data) for one in writes.vectors))
    for one in writes.records:
        row = (namespace, one.collection, one.key, one.version, one.value, one.about, one.session)
        connection.execute(_PUT_RECORD.format(table=table_of(namespace, one.collection)), row)
    for address in writes.dropped:
        drop = _DROP_RECORD.format(table=table_of(namespace, address.collection))
        connection.execute(drop, (namespace, address.collection, address.key))
    connection.execute(_COUNT_ON, (namespace, writes.applied.sequence, writes.reset or 0, int(writes.erased)))
    if writes.reset is not None:
        connection.execute("UPDATE sequences SET reset = ? WHERE namespace = ?", (writes.reset, namespace))


def _erase(connection: sqlite3.Connection, namespace: str, writes: Writes) -> None:
    for table in (_HOLDS_WORDS if writes.graves else (*_HOLDS_WORDS, *_GRAVES)) if writes.everything else ():
        connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))
    gone = ((namespace, name) for name in writes.gone)
    _each(connection, "DELETE FROM memories WHERE namespace = ? AND id = ?", gone)
    _devalue(connection, namespace, writes.gone)
    _each(
        connection,
        "INSERT INTO tombstones (namespace, id, fingerprint, changed) VALUES (?, ?, ?, ?)",
        ((namespace, *stone) for stone in writes.buried),
    )
    _each(connection, "DELETE FROM turns WHERE namespace = ? AND id = ?", ((namespace, name) for name in writes.unsaid))
    _each(
        connection,
        "INSERT OR IGNORE INTO erased_turns (namespace, digest) VALUES (?, ?)",
        ((namespace, digest) for digest in writes.digests),
    )
    _each(
        connection,
        "DELETE FROM sessions WHERE namespace = ? AND session = ?",
        ((namespace, session) for session in writes.ended),
    )
    _drop_records(connection, namespace, writes)


def _drop_records(connection: sqlite3.Connection, namespace: str, writes: Writes) -> None:
    by_address = _DROP_RECORD.format(table="records")
    for collection in BY_SESSION:
        _each(connection, by_address, ((namespace, collection, session) for session in writes.ended))
    if writes.about:
        for collection in collections_in(connection, "records", namespace):
            _each(connection, by_address, ((namespace, collection, name) for name in writes.about))
    if writes.segments:
        connection.execute("DELETE FROM records WHERE namespace = ? AND collection = ?", (namespace, SEGMENT))


def _devalue(connection: sqlite3.Connection, namespace: str, memories: Sequence[str]) -> None:
    for table in ("prices", "vectors"):
        statement = f"DELETE FROM {table} WHERE namespace = ? AND memory = ?"
        _each(connection, statement, ((namespace, name) for name in memories))


def _retag(connection: sqlite3.Connection, namespace: str, writes: Writes) -> None:
    former = (*writes.gone, *(one.id for one in writes.updates))
    _each(connection, _UNTAG, ((namespace, name) for name in former))
    written = (*writes.inserts, *writes.updates)
    _each(connection, _TAG, ((namespace, tag, one.id) for one in written for tag in one.tags))


def _restage(connection: sqlite3.Connection, namespace: str, writes: Writes) -> None:
    if not writes.stages:
        return
    rows = ((one.stage.value, number, namespace, one.changed, one.memory) for one, number in writes.stages)
    if connection.executemany(_RESTAGE, rows).rowcount != len(writes.stages):
        raise ConflictError("a memory was changed meanwhile; read it again")


def _each(connection: sqlite3.Connection, statement: str, rows: Iterable[Row]) -> None:
    """Run the statement once a row, and not at all without rows: preparing it takes time as well."""
    if values := list(rows):
        connection.executemany(statement, values)
