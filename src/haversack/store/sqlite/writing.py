"""One batch carried out inside the caller's transaction: read what its rules need, write what they decide."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import TypedDict

from haversack.errors import ConflictError
from haversack.model.memory import Kind, Memory
from haversack.model.times import micros
from haversack.store.plan import Found, Needs, Writes, decide, held, needs
from haversack.store.port import BY_SESSION, SEGMENT, Applied, Batch, RecordKey
from haversack.store.sqlite.lookup import Part, find, find_together
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
_ALL_MEMORIES = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE namespace = ? ORDER BY born"
_LATER = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE namespace = ? AND changed > ? AND kind <> '{Kind.PASSAGE}'"
_BURIED = "SELECT fingerprint FROM tombstones WHERE namespace = ? AND changed > ?"
_TURN = "id, session, position, key"
_ALL_TURNS = f"SELECT {_TURN} FROM turns WHERE namespace = ?"
_PLACE = "session, next, turns, first_at, last_at"
_PLACES = "sessions WHERE namespace = ? AND session"
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
    """Read by one statement what the rules ask of a usual batch."""
    fixed, turn_parts = (namespace,), _turn_parts(namespace, wanted)
    sequence, memories, numbers, stones, digests, places, *others = find_together(
        connection,
        [
            Part("value", "sequences WHERE namespace IN", (), fixed),
            Part(MEMORY_COLUMNS, "memories WHERE namespace = ? AND id IN", fixed, wanted.memories),
            Part("id, changed", "memories WHERE namespace = ? AND id IN", fixed, wanted.numbers),
            Part("id", "tombstones WHERE namespace = ? AND id IN", fixed, wanted.tombstones),
            Part("digest", "erased_turns WHERE namespace = ? AND digest IN", fixed, wanted.digests),
            Part(_PLACE, f"{_PLACES} IN", fixed, wanted.places),
            *turn_parts,
            *_record_parts(namespace, wanted.records),
        ],
    )
    held_turns = list(chain.from_iterable(others[: len(turn_parts)]))
    if wanted.everything:
        memories = connection.execute(_ALL_MEMORIES, fixed).fetchall()
        held_turns = connection.execute(_ALL_TURNS, fixed).fetchall()
    turns = {turn.id: turn for turn in map(held_turn_of, held_turns)}
    if further := {turn.session for turn in turns.values()}.difference(wanted.places):
        places += find(connection, f"SELECT {_PLACE} FROM {_PLACES} IN", fixed, sorted(further))
    number = sound(sequence[0], (int,), "sequence", namespace)[0] if sequence else 0
    return Found(
        sequence=number,
        memories={row[0]: held(memory_of(row)) for row in memories},
        numbers=dict(sound(row, (str, int), "memory", row[0]) for row in numbers),
        tombstones={name for (name,) in stones},
        turns=turns,
        places={row[0]: place_of(row) for row in places},
        digests={mark for (mark,) in digests},
        records={
            RecordKey(collection=collection, key=key): version
            for collection, key, version in chain.from_iterable(others[len(turn_parts) :])
        },
        **_said_since(connection, namespace, wanted.since if number != wanted.since and sequence else None),
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


def _turn_parts(namespace: str, wanted: Needs) -> list[Part]:
    of_session = "turns WHERE namespace = ? AND session = ? AND key IN"
    return [
        Part(_TURN, "turns WHERE namespace = ? AND id IN", (namespace,), wanted.turns),
        Part(_TURN, "turns WHERE namespace = ? AND session IN", (namespace,), wanted.sessions),
        *(
            Part(_TURN, of_session, (namespace, session), [key for _, key in keys])
            for session, keys in groupby(sorted(wanted.keys), key=lambda pair: pair[0])
        ),
    ]


def _record_parts(namespace: str, wanted: Sequence[RecordKey]) -> Iterator[Part]:
    by_collection = sorted(wanted, key=lambda address: address.collection)
    for collection, addresses in groupby(by_collection, key=lambda address: address.collection):
        source = f"{table_of(namespace, collection)} WHERE namespace = ? AND collection = ? AND key IN"
        yield Part("collection, key, version", source, (namespace, collection), [one.key for one in addresses])


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
