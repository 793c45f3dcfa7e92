"""One batch carried out inside the caller's transaction. What it must know of the present it reads in a few lookups."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from haversack.errors import ConflictError
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory, Turn
from haversack.model.times import micros
from haversack.store.port import BY_SESSION, SEGMENT, Applied, Batch, Erasure, Price, Restage, Vector, Written
from haversack.store.sqlite.lookup import find
from haversack.store.sqlite.rows import MEMORY_COLUMNS, TURN_COLUMNS, Row, key_digest, row_of_memory, row_of_turn

__all__ = ["carry_out"]

_MEMORY_NAMES = f"{MEMORY_COLUMNS}, fingerprint".split(", ")
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
_HOLDS_WORDS = ("memories", "prices", "vectors", "turns", "sessions", "erased_turns", "records", "tombstones")


@dataclass(slots=True)
class _Counter:
    """The namespace's change sequence while the batch is carried out."""

    value: int

    def next(self) -> int:
        self.value += 1
        return self.value


@dataclass(slots=True)
class _Place:
    """Where a session stands while turns are appended."""

    next: int
    turns: int
    first_at: int | None
    last_at: int | None

    def take(self, at: int) -> int:
        position = self.next
        self.next += 1
        self.turns += 1
        self.first_at = at if self.first_at is None else min(self.first_at, at)
        self.last_at = at if self.last_at is None else max(self.last_at, at)
        return position


def carry_out(connection: sqlite3.Connection, namespace: str, batch: Batch) -> Applied:
    """Do all that the batch says; the caller begins and commits."""
    start = _start(connection, namespace)
    counter = _Counter(start)
    gone_memories: list[str] = []
    gone_turns: list[str] = []
    if batch.erase is not None:
        gone_memories, gone_turns = _erase(connection, namespace, batch.erase, counter)
    _refuse_missing(connection, namespace, batch.made_of)
    appended, skipped = _append(connection, namespace, batch.turns)
    ignored = _made_from_alone(batch.memories, skipped)
    fresh = {memory.id: memory for memory in batch.memories if memory.id not in ignored}
    _write(connection, namespace, fresh, counter, batch.seen)
    _restage(connection, namespace, batch.stages, counter)
    _set_prices(connection, namespace, [price for price in batch.prices if price.memory not in ignored], fresh)
    _set_vectors(connection, namespace, [vector for vector in batch.vectors if vector.memory not in ignored], fresh)
    for written in batch.records:
        _put(connection, namespace, written)
    if counter.value != start:
        connection.execute("UPDATE sequences SET value = ? WHERE namespace = ?", (counter.value, namespace))
    return Applied(
        sequence=counter.value,
        turns=tuple(appended),
        skipped=tuple(skipped),
        erased_memories=tuple(gone_memories),
        erased_turns=tuple(gone_turns),
    )


def _refuse_missing(connection: sqlite3.Connection, namespace: str, turns: Sequence[str]) -> None:
    select = "SELECT id FROM turns WHERE namespace = ? AND id IN"
    if missing := set(turns).difference(name for (name,) in find(connection, select, (namespace,), turns)):
        raise ConflictError(f"turn {min(missing)} was erased meanwhile")


def _start(connection: sqlite3.Connection, namespace: str) -> int:
    row = connection.execute("SELECT value FROM sequences WHERE namespace = ?", (namespace,)).fetchone()
    if row is not None:
        return row[0]
    connection.execute("INSERT INTO sequences VALUES (?, 0, 0, 0, 0)", (namespace,))
    return 0


def _erase(
    connection: sqlite3.Connection, namespace: str, erasure: Erasure, counter: _Counter
) -> tuple[list[str], list[str]]:
    connection.execute("UPDATE sequences SET erasures = erasures + 1 WHERE namespace = ?", (namespace,))
    if erasure.everything:
        return _erase_everything(connection, namespace, counter)
    gone_memories = _erase_memories(connection, namespace, erasure.memories, counter)
    gone_turns = _erase_turns(connection, namespace, erasure)
    _drop_records_about(connection, namespace, [*gone_memories, *gone_turns])
    return gone_memories, gone_turns


def _erase_everything(connection: sqlite3.Connection, namespace: str, counter: _Counter) -> tuple[list[str], list[str]]:
    memories = connection.execute("SELECT id FROM memories WHERE namespace = ? ORDER BY born", (namespace,)).fetchall()
    turns = connection.execute(
        "SELECT id FROM turns WHERE namespace = ? ORDER BY session, position", (namespace,)
    ).fetchall()
    for table in _HOLDS_WORDS:
        connection.execute(f"DELETE FROM {table} WHERE namespace = ?", (namespace,))
    connection.execute("UPDATE sequences SET reset = ? WHERE namespace = ?", (counter.next(), namespace))
    return [name for (name,) in memories], [name for (name,) in turns]


def _erase_memories(connection: sqlite3.Connection, namespace: str, ids: Sequence[str], counter: _Counter) -> list[str]:
    select = "SELECT born, id, kind, content FROM memories WHERE namespace = ? AND id IN"
    found = sorted(set(find(connection, select, (namespace,), ids)))
    gone = [(namespace, name) for _, name, _, _ in found]
    connection.executemany("DELETE FROM memories WHERE namespace = ? AND id = ?", gone)
    _devalue(connection, gone)
    connection.executemany(
        "INSERT INTO tombstones (namespace, id, fingerprint, changed) VALUES (?, ?, ?, ?)",
        [(namespace, name, fingerprint(Kind(kind), content), counter.next()) for _, name, kind, content in found],
    )
    return [name for _, name in gone]


def _erase_turns(connection: sqlite3.Connection, namespace: str, erasure: Erasure) -> list[str]:
    select = "SELECT session, position, id, key FROM turns WHERE namespace = ? AND"
    found = {*find(connection, f"{select} id IN", (namespace,), erasure.turns)}
    found |= {*find(connection, f"{select} session IN", (namespace,), erasure.sessions)}
    rows = sorted(found, key=lambda row: row[:2])
    connection.executemany(
        "DELETE FROM turns WHERE namespace = ? AND id = ?", [(namespace, name) for _, _, name, _ in rows]
    )
    connection.executemany(
        "INSERT OR IGNORE INTO erased_turns (namespace, digest) VALUES (?, ?)",
        [(namespace, key_digest(session, key)) for session, _, _, key in rows if key is not None],
    )
    touched = {*erasure.sessions, *(session for session, _, _, _ in rows)}
    connection.executemany(
        "UPDATE sessions SET (turns, first_at, last_at) ="
        " (SELECT count(*), min(at), max(at) FROM turns WHERE namespace = ? AND session = ?)"
        " WHERE namespace = ? AND session = ?",
        [(namespace, session, namespace, session) for session in touched],
    )
    _drop_names(connection, namespace, touched)
    return [name for _, _, name, _ in rows]


def _drop_names(connection: sqlite3.Connection, namespace: str, sessions: set[str]) -> None:
    """Those of these sessions that have no turn any more leave no row."""
    select = "SELECT session FROM sessions WHERE namespace = ? AND turns > 0 AND session IN"
    going_on = {session for (session,) in find(connection, select, (namespace,), list(sessions))}
    over = [(namespace, session) for session in sessions - going_on]
    connection.executemany("DELETE FROM sessions WHERE namespace = ? AND session = ?", over)
    for collection in BY_SESSION:
        connection.executemany(
            f"DELETE FROM records WHERE collection = '{collection}' AND namespace = ? AND key = ?", over
        )


def _drop_records_about(connection: sqlite3.Connection, namespace: str, gone: Sequence[str]) -> None:
    if not gone:
        return
    collections = connection.execute("SELECT DISTINCT collection FROM records WHERE namespace = ?", (namespace,))
    for (collection,) in collections.fetchall():
        connection.executemany(
            "DELETE FROM records WHERE namespace = ? AND collection = ? AND key = ?",
            [(namespace, collection, name) for name in gone],
        )
    connection.execute("DELETE FROM records WHERE namespace = ? AND collection = ?", (namespace, SEGMENT))


def _append(connection: sqlite3.Connection, namespace: str, turns: Sequence[Turn]) -> tuple[list[Turn], list[str]]:
    if not turns:
        return [], []
    held = {
        name
        for (name,) in find(
            connection, "SELECT id FROM turns WHERE namespace = ? AND id IN", (namespace,), [turn.id for turn in turns]
        )
    }
    sessions = {turn.session for turn in turns}
    taken = {session: _taken_keys(connection, namespace, session, turns) for session in sessions}
    places = {session: _place(connection, namespace, session) for session in sessions}
    appended: list[Turn] = []
    skipped: list[str] = []
    for turn in turns:
        keys = taken[turn.session]
        if turn.id in held or (turn.key is not None and turn.key in keys):
            skipped.append(turn.id)
            continue
        held.add(turn.id)
        if turn.key is not None:
            keys.add(turn.key)
        appended.append(replace(turn, position=places[turn.session].take(micros(turn.at))))
    connection.executemany(_INSERT_TURN, [(*row_of_turn(turn), namespace) for turn in appended])
    connection.executemany(
        "INSERT OR REPLACE INTO sessions (namespace, session, next, turns, first_at, last_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (namespace, session, place.next, place.turns, place.first_at, place.last_at)
            for session, place in places.items()
            if place.next > 0
        ],
    )
    return appended, skipped


def _taken_keys(connection: sqlite3.Connection, namespace: str, session: str, turns: Sequence[Turn]) -> set[str]:
    keys = [turn.key for turn in turns if turn.key is not None and turn.session == session]
    select = "SELECT key FROM turns WHERE namespace = ? AND session = ? AND key IN"
    taken = {key for (key,) in find(connection, select, (namespace, session), keys)}
    digests = {key_digest(session, key): key for key in keys}
    select = "SELECT digest FROM erased_turns WHERE namespace = ? AND digest IN"
    return taken | {digests[digest] for (digest,) in find(connection, select, (namespace,), list(digests))}


def _place(connection: sqlite3.Connection, namespace: str, session: str) -> _Place:
    row = connection.execute(
        "SELECT next, turns, first_at, last_at FROM sessions WHERE namespace = ? AND session = ?", (namespace, session)
    ).fetchone()
    return _Place(*row) if row is not None else _Place(0, 0, None, None)


def _made_from_alone(memories: Sequence[Memory], skipped: Sequence[str]) -> set[str]:
    if not skipped:
        return set()
    there = set(skipped)
    return {memory.id for memory in memories if memory.source.turns and there.issuperset(memory.source.turns)}


def _write(
    connection: sqlite3.Connection, namespace: str, fresh: dict[str, Memory], counter: _Counter, seen: int | None
) -> None:
    if not fresh:
        return
    ids = list(fresh)
    for (name,) in find(connection, "SELECT id FROM tombstones WHERE namespace = ? AND id IN", (namespace,), ids):
        raise ConflictError(f"memory {name} was erased for good; its id cannot be used again")
    select = "SELECT id, changed, born, kind, content, speaker, event_time FROM memories WHERE namespace = ? AND id IN"
    former: dict[str, Row] = {row[0]: row for row in find(connection, select, (namespace,), ids)}
    for name, changed, *_ in former.values():
        if seen is not None and changed > seen:
            raise ConflictError(f"memory {name} was changed meanwhile; read it again")
    inserts: list[Row] = []
    updates: list[Row] = []
    untrue: list[tuple[str, str]] = []
    for name, memory in fresh.items():
        number = counter.next()
        row = former.get(name)
        if row is None:
            if seen is not None and memory.born:
                raise ConflictError(f"memory {name} was erased meanwhile")
            inserts.append((*row_of_memory(memory, number, number), namespace))
            continue
        updates.append((*row_of_memory(memory, row[2], number), namespace, name))
        if row[3:] != (memory.kind.value, memory.content, memory.speaker, micros(memory.event_time)):
            untrue.append((namespace, name))
    connection.executemany(_INSERT_MEMORY, inserts)
    if updates:
        connection.executemany(_UPDATE_MEMORY, updates)
        _devalue(connection, untrue)


def _restage(connection: sqlite3.Connection, namespace: str, stages: Sequence[Restage], counter: _Counter) -> None:
    if not stages:
        return
    values = ((stage.value, counter.next(), namespace, changed, name) for name, changed, stage in stages)
    if connection.executemany(_RESTAGE, values).rowcount != len(stages):
        raise ConflictError("a memory was changed meanwhile; read it again")


def _devalue(connection: sqlite3.Connection, addresses: Sequence[tuple[str, str]]) -> None:
    connection.executemany("DELETE FROM prices WHERE namespace = ? AND memory = ?", addresses)
    connection.executemany("DELETE FROM vectors WHERE namespace = ? AND memory = ?", addresses)


def _set_prices(
    connection: sqlite3.Connection, namespace: str, prices: Sequence[Price], fresh: Collection[str]
) -> None:
    if not prices:
        return
    held = _held(connection, namespace, {price.memory for price in prices}, fresh)
    connection.executemany(
        "INSERT INTO prices (namespace, memory, encoding, tokens) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (namespace, memory, encoding) DO UPDATE SET tokens = excluded.tokens",
        [(namespace, price.memory, price.encoding, price.tokens) for price in prices if price.memory in held],
    )


def _set_vectors(
    connection: sqlite3.Connection, namespace: str, vectors: Sequence[Vector], fresh: Collection[str]
) -> None:
    if not vectors:
        return
    held = _held(connection, namespace, {vector.memory for vector in vectors}, fresh)
    read = [vector.memory for vector in vectors if vector.changed is not None]
    select = "SELECT id, changed FROM memories WHERE namespace = ? AND id IN"
    changed = dict(find(connection, select, (namespace,), read))
    true = (each for each in vectors if each.memory in held and each.changed in {None, changed.get(each.memory)})
    connection.executemany(
        "INSERT INTO vectors (namespace, memory, model, data) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (namespace, memory, model) DO UPDATE SET data = excluded.data",
        [(namespace, vector.memory, vector.model, vector.data) for vector in true],
    )


def _held(connection: sqlite3.Connection, namespace: str, wanted: set[str], fresh: Collection[str]) -> set[str]:
    """Those of the wanted memories that exist; `fresh` ones were just written."""
    unsure = [name for name in wanted if name not in fresh]
    if not unsure:
        return wanted
    select = "SELECT id FROM memories WHERE namespace = ? AND id IN"
    return wanted.intersection(fresh) | {name for (name,) in find(connection, select, (namespace,), unsure)}


def _put(connection: sqlite3.Connection, namespace: str, written: Written) -> None:
    address = (namespace, written.collection, written.key)
    row = connection.execute(
        "SELECT version FROM records WHERE namespace = ? AND collection = ? AND key = ?", address
    ).fetchone()
    version = 0 if row is None else row[0]
    if written.expected is not None and written.expected != version:
        msg = f"record {written.key!r} of {written.collection!r} is at version {version}, not {written.expected}"
        raise ConflictError(msg)
    if written.value is None:
        connection.execute("DELETE FROM records WHERE namespace = ? AND collection = ? AND key = ?", address)
        return
    connection.execute(
        "INSERT INTO records (namespace, collection, key, version, value) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (namespace, collection, key) DO UPDATE SET version = excluded.version, value = excluded.value",
        (*address, version + 1, written.value),
    )
