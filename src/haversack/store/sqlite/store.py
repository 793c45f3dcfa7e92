"""The store in one SQLite file: safe for threads and processes, durable on return, no server."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import os
import sqlite3
import warnings
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from haversack.errors import ReadOnlyError, StoreError
from haversack.model.memory import Kind, Memory, SessionInfo, Stage, Turn
from haversack.model.query import Filter
from haversack.store.port import HIDDEN, Applied, Batch, Census, Changes, Graves, LifePage, Record, Said
from haversack.store.sqlite import queries
from haversack.store.sqlite.connection import Connections, Lease, begin_reading, end_reading, typed_error
from haversack.store.sqlite.living import lives_of_rows, lives_statement
from haversack.store.sqlite.lookup import find, meaning
from haversack.store.sqlite.migrate import Migration, State, confirm, copy_into, examine, migrate, shipped
from haversack.store.sqlite.moving import bury, erased, graves_of
from haversack.store.sqlite.place import ONE_MACHINE, network_of
from haversack.store.sqlite.rows import (
    MEMORY_COLUMNS,
    TURN_COLUMNS,
    Row,
    memory_of,
    restaged_of,
    session_of,
    sound,
    turn_of,
)
from haversack.store.sqlite.schema import refuse_foreign
from haversack.store.sqlite.scrub import is_pending, scrub
from haversack.store.sqlite.tables import RECORD_TABLES, collections_in, table_of
from haversack.store.sqlite.turns import Turns
from haversack.store.sqlite.writing import carry_out

if TYPE_CHECKING:
    from haversack.store.sqlite.cipher import Cipher

__all__ = ["SqliteStore", "reading_mode", "writable"]

_MEMORIES = f"SELECT {MEMORY_COLUMNS} FROM memories WHERE namespace = ? AND id IN"
_CHANGED = (
    f"SELECT {MEMORY_COLUMNS} FROM memories WHERE namespace = ? AND changed > ? AND coalesce(told, changed) > ?"
    " ORDER BY changed LIMIT ?"
)
_RESTAGED = (
    "SELECT changed, id, stage, importance FROM memories WHERE namespace = ? AND changed > ? AND told <= ?"
    " ORDER BY changed LIMIT ?"
)
_ERASED = "SELECT changed, id FROM tombstones WHERE namespace = ? AND changed > ? ORDER BY changed LIMIT ?"
_TURNS = f"SELECT {TURN_COLUMNS} FROM turns AS t WHERE namespace = ? AND session = ? AND position > ?"
_SHOWN = (
    f" AND NOT EXISTS (SELECT 1 FROM records WHERE namespace = t.namespace AND collection = '{HIDDEN}' AND key = t.id)"
)
_NO_KIND = "SELECT id, kind FROM memories WHERE namespace = ? AND typeof(kind) <> 'text' LIMIT 1"
_RECORD = "key, version, value, about, session"
_HOLDING = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} WHERE namespace = s.namespace)"
    for table in ("memories", "turns", "records", "leases", "tombstones", "erased_turns")
)


class SqliteStore:
    """A store in the file at `path`, created when it is missing or empty.

    A file that this process may not write, or whose folder it may not, opens for reading: writes raise ReadOnlyError.
    Raises NotAStoreError and NewerStoreError without touching the file.
    """

    abilities: frozenset[str] = frozenset({"durable", "shared", "snapshot", "scrub", "move"})

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        busy_timeout: float = 30.0,
        migrations: Sequence[Migration] | None = None,
        cipher: Cipher | None = None,
    ) -> None:
        """`busy_timeout` is how many seconds a write waits for other writers before it raises BusyError.

        With a `cipher` the file is encrypted.
        """
        self.path = Path(path)
        self._busy_timeout = busy_timeout
        self._cipher = cipher
        steps = migrations or shipped()
        state = examine(self.path, steps[-1].number, cipher)
        self.read_only = read_only or not writable(self.path)
        if self.read_only:
            _refuse_unready(self.path, state)
        else:
            _warn_of_network(self.path)
            _free_log(self.path)
            _prepare(self.path, busy_timeout, steps, state, cipher)
        self._connections = Connections(
            self.path,
            busy_timeout,
            mode=reading_mode(self.path) if self.read_only else "rw",
            version=steps[-1].number,
            cipher=cipher,
        )
        self._turns = Turns(self.path, busy_timeout)
        self.patience = 2.0
        """Seconds that an erasing call waits for readers of old versions; then the next write goes on with it."""
        self._unscrubbed = False
        self._rebuilt: set[tuple[str, int]] = set()
        try:
            self._settle(steps)
        except BaseException:
            self._connections.close()
            raise

    def apply(self, namespace: str, batch: Batch) -> Applied:
        """See the port. After an erasure it also scrubs the files; `scrub` finishes what readers kept it from."""
        lease = self._write_lease()
        with self._turns.mine(), lease as connection:
            lease.begin()
            applied = carry_out(connection, namespace, batch)
            connection.execute("COMMIT")
        if batch.erase is not None:
            self._scrub(lease, self.patience)
        elif self._unscrubbed:
            self._scrub(lease, 0.0)
        return applied

    def memories(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """See the port."""
        lease = self._connections.lease()
        if not ids:
            return []
        with lease as connection:
            rows = {row[0]: row for row in find(connection, _MEMORIES, (namespace,), ids)}
        return [memory_of(rows[each]) for each in ids if each in rows]

    def changes(
        self, namespace: str, *, since: int = 0, limit: int = 10_000, known: int = 0, model: str | None = None
    ) -> Changes:
        """See the port."""
        with self._connections.lease() as connection:
            begun = begin_reading(connection)
            found = connection.execute(
                "SELECT value, reset FROM sequences WHERE namespace = ?", (namespace,)
            ).fetchone()
            if found is None or sound(found, (int, int), "sequence", namespace)[0] <= since:
                end_reading(connection, begun=begun)
                return Changes(memories=(), erased=(), upto=since, more=False)
            asked = (namespace, since, known, limit + 1)
            memories = list(map(memory_of, connection.execute(_CHANGED, asked)))
            # Every change takes a number of its own: where rows account for all of them, nothing else happened.
            is_all = len(memories) == found[0] - since
            restaged = connection.execute(_RESTAGED, asked).fetchall() if known and not is_all else []
            erased = [] if is_all else connection.execute(_ERASED, (namespace, since, limit + 1)).fetchall()
            merged = _merged(memories, restaged, erased, since=since, limit=limit, state=found)
            if model is not None:
                ids = [memory.id for memory in merged.memories]
                merged = replace(merged, vectors=_vectors(connection, namespace, model, ids))
            end_reading(connection, begun=begun)
        return merged

    def select(
        self, namespace: str, chosen: Filter, *, now: datetime | None, after: int = 0, limit: int | None = None
    ) -> list[Memory]:
        """See the port."""
        with self._connections.lease() as connection:
            return list(queries.select(connection, namespace, chosen, now=now, after=after, limit=limit))

    def superseded(self, namespace: str) -> list[Memory]:
        """See the port."""
        with self._connections.lease() as connection:
            return queries.superseded(connection, namespace)

    def derived(self, namespace: str, sources: Sequence[str]) -> list[Memory]:
        """See the port."""
        with self._connections.lease() as connection:
            return queries.derived(connection, namespace, sources)

    def parts(self, namespace: str, texts: Sequence[str]) -> list[Memory]:
        """See the port."""
        with self._connections.lease() as connection:
            return queries.parts(connection, namespace, texts)

    def lives(
        self, namespace: str, *, spared: Collection[Kind] = (), since: int = 0, limit: int = 10_000, sized: bool = False
    ) -> LifePage:
        """See the port."""
        with self._connections.lease() as connection:
            begun = begin_reading(connection)
            value = connection.execute("SELECT value FROM sequences WHERE namespace = ?", (namespace,)).fetchone()
            rows = connection.execute(lives_statement(spared, sized=sized), (namespace, since, limit + 1)).fetchall()
            end_reading(connection, begun=begun)
        more = len(rows) > limit
        lives = lives_of_rows(rows[:limit], sized=sized)
        reached = sound(value, (int,), "sequence", namespace)[0] if value else 0
        upto = int(lives.changed[-1]) if more else max(since, reached)
        return LifePage(lives=lives, upto=upto, more=more)

    def sequence(self, namespace: str) -> int:
        """See the port."""
        with self._connections.lease() as connection:
            return queries.sequence(connection, namespace)

    def turns(
        self,
        namespace: str,
        session: str,
        *,
        after: int = -1,
        limit: int | None = None,
        newest: bool = False,
        shown: bool = False,
    ) -> list[Turn]:
        """See the port."""
        backwards = newest and limit is not None
        order = "ORDER BY position DESC" if backwards else "ORDER BY position"
        statement = f"{_TURNS}{_SHOWN if shown else ''} {order} LIMIT ?"
        with self._connections.lease() as connection:
            asked = (namespace, session, after, -1 if limit is None else limit)
            found = list(map(turn_of, connection.execute(statement, asked)))
        return found[::-1] if backwards else found

    def turns_by_id(self, namespace: str, ids: Sequence[str]) -> list[Turn]:
        """See the port."""
        select = f"SELECT {TURN_COLUMNS} FROM turns WHERE namespace = ? AND id IN"
        with self._connections.lease() as connection:
            rows = {row[0]: row for row in find(connection, select, (namespace,), ids)}
        return [turn_of(rows[each]) for each in ids if each in rows]

    def sessions(self, namespace: str) -> list[SessionInfo]:
        """See the port."""
        with self._connections.lease() as connection:
            rows = connection.execute(
                "SELECT session, turns, first_at, last_at FROM sessions WHERE namespace = ? AND turns > 0"
                " ORDER BY last_at DESC, session",
                (namespace,),
            ).fetchall()
        return list(map(session_of, rows))

    def namespaces(
        self, matching: Iterable[str] | None = None, *, after: str = "", limit: int | None = None
    ) -> list[str]:
        """See the port."""
        found: set[str] = set()
        with self._connections.lease() as connection:
            for pattern in ("*",) if matching is None else dict.fromkeys(matching):
                meant, values = meaning("namespace", pattern)
                statement = (
                    f"SELECT namespace FROM sequences AS s WHERE namespace > ? AND {meant} AND ({_HOLDING})"
                    " ORDER BY namespace LIMIT ?"
                )
                rows = connection.execute(statement, (after, *values, -1 if limit is None else limit))
                found.update(name for (name,) in rows)
        return sorted(found)[:limit]

    def said(self, namespace: str, fingerprints: Sequence[str]) -> Said:
        """See the port."""
        with self._connections.lease() as connection:
            return queries.said(connection, namespace, fingerprints)

    def tombstoned(self, namespace: str, fingerprints: Sequence[str]) -> set[str]:
        """See the port."""
        select = "SELECT fingerprint FROM tombstones WHERE namespace = ? AND fingerprint IN"
        with self._connections.lease() as connection:
            return {mark for (mark,) in find(connection, select, (namespace,), fingerprints)}

    def erased(self, namespace: str, ids: Sequence[str]) -> set[str]:
        """See the port."""
        with self._connections.lease() as connection:
            return erased(connection, namespace, ids)

    def prices(self, namespace: str, encoding: str, ids: Sequence[str]) -> dict[str, int]:
        """See the port."""
        select = "SELECT memory, tokens FROM prices WHERE namespace = ? AND encoding = ? AND memory IN"
        with self._connections.lease() as connection:
            found = find(connection, select, (namespace, encoding), ids)
            return {name: tokens for name, tokens in found if type(tokens) is int}  # a damaged price is counted anew

    def vectors(self, namespace: str, model: str, ids: Sequence[str]) -> dict[str, bytes]:
        """See the port."""
        with self._connections.lease() as connection:
            return _vectors(connection, namespace, model, ids)

    def embedded(self, namespace: str, model: str) -> int:
        """See the port."""
        with self._connections.lease() as connection:
            select = "SELECT count(*) FROM vectors WHERE namespace = ? AND model = ?"
            return connection.execute(select, (namespace, model)).fetchone()[0]

    def record(self, namespace: str, collection: str, key: str) -> Record | None:
        """See the port."""
        select = f"SELECT {_RECORD} FROM {table_of(namespace, collection)}"
        with self._connections.lease() as connection:
            row = connection.execute(
                f"{select} WHERE namespace = ? AND collection = ? AND key = ?", (namespace, collection, key)
            ).fetchone()
        return None if row is None else _record_of(collection, row)

    def records(
        self,
        namespace: str,
        collection: str,
        *,
        prefix: str = "",
        after: str = "",
        limit: int = 1_000,
        about: str | None = None,
        session: str | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """See the port."""
        key, order = "key" if session is None else "+key", "DESC" if newest else ""  # few are of one session: sort them
        meant, values = meaning(key, f"{prefix}*")
        if about is not None:
            named, names = meaning("about", about)
            meant, values = f"{meant} AND {named}", [*values, *names]
        if session is not None:
            meant, values = f"{meant} AND session = ?", [*values, session]
        statement = (
            f"SELECT {_RECORD} FROM {table_of(namespace, collection)}"
            f" WHERE namespace = ? AND collection = ? AND {key} > ? AND {meant} ORDER BY {key} {order} LIMIT ?"
        )
        with self._connections.lease() as connection:
            rows = connection.execute(statement, (namespace, collection, after, *values, limit)).fetchall()
        found = [_record_of(collection, row) for row in rows]
        return found[::-1] if newest else found

    def census(self, namespace: str) -> Census:
        """See the port."""
        with self._connections.lease() as connection:
            begun = begin_reading(connection)
            counted = connection.execute(
                f"SELECT kind, stage = '{Stage.DELETED}', count(*) FROM memories WHERE namespace = ? GROUP BY 1, 2",
                (namespace,),
            ).fetchall()
            if any(type(kind) is not str for kind, _, _ in counted):
                for row in connection.execute(_NO_KIND, (namespace,)):
                    sound(row, (str, str), "memory", row[0])
            sessions, turns = connection.execute(
                "SELECT count(*), coalesce(sum(turns), 0) FROM sessions WHERE namespace = ? AND turns > 0", (namespace,)
            ).fetchone()
            (tombstones,) = connection.execute(
                "SELECT count(*) FROM tombstones WHERE namespace = ?", (namespace,)
            ).fetchone()
            end_reading(connection, begun=begun)
        return Census(
            memories={kind: count for kind, deleted, count in sorted(counted) if not deleted},
            deleted=sum(count for _, deleted, count in counted if deleted),
            sessions=sessions,
            turns=turns,
            tombstones=tombstones,
        )

    def snapshot(self, path: Path) -> None:
        """See the port's Snapshots."""
        if path.exists():
            raise StoreError(f"{path} exists already; a snapshot never replaces a file")
        with self._connections.lease() as connection:
            try:
                copy_into(connection, path)
            except OSError as error:
                raise StoreError(f"no snapshot at {path}: {error.strerror}") from error

    @contextmanager
    def frozen(self) -> Generator[SqliteStore]:
        """See the port's Moves."""
        reader = SqliteStore(self.path, read_only=True, busy_timeout=self._busy_timeout, cipher=self._cipher)
        try:
            with reader._connections.pinned() as connection:
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM sequences").fetchone()  # the moment is that of the first read
            yield reader
        finally:
            reader.close()

    def collections(self, namespace: str) -> list[str]:
        """See the port's Moves."""
        with self._connections.lease() as connection:
            return sorted({name for table in RECORD_TABLES for name in collections_in(connection, table, namespace)})

    def embedders(self, namespace: str) -> list[str]:
        """See the port's Moves."""
        with self._connections.lease() as connection:
            found = connection.execute(
                "SELECT DISTINCT model FROM vectors WHERE namespace = ? ORDER BY model", (namespace,)
            )
            return [model for (model,) in found]

    def graves(self, namespace: str) -> Graves:
        """See the port's Moves."""
        with self._connections.lease() as connection:
            return graves_of(connection, namespace)

    def bury(self, namespace: str, graves: Graves) -> None:
        """See the port's Moves."""
        lease = self._write_lease()
        with self._turns.mine(), lease as connection:
            lease.begin()
            bury(connection, namespace, graves)
            connection.execute("COMMIT")

    def scrub(self) -> bool:
        """See the port's Scrubs."""
        return self._scrub(self._write_lease(), self.patience)

    def close(self) -> None:
        """See the port."""
        self._connections.close()

    def _write_lease(self) -> Lease:
        if self.read_only:
            raise ReadOnlyError(f"{self.path} can be read but not written")
        return self._connections.lease()

    def _scrub(self, lease: Lease, patience: float) -> bool:
        with lease as connection:
            done = scrub(connection, self.path, patience=patience, afterwards=self._busy_timeout, rebuilt=self._rebuilt)
        self._unscrubbed = not done
        return done

    def _settle(self, steps: Sequence[Migration]) -> None:
        """Look behind the header, whose newest state may still be in the log, and finish an interrupted erasure."""
        lease = self._connections.lease()
        with lease as connection:
            confirm(connection, self.path, steps[-1].number)
            refuse_foreign(connection, self.path, steps)
            pending = not self.read_only and is_pending(connection)
        if pending:
            self._scrub(lease, 0.0)


def writable(path: Path) -> bool:
    """Whether this process may write the file, or make it, and the log beside it."""
    folder = path.absolute().parent
    return not folder.exists() or (os.access(folder, os.W_OK) and (not path.exists() or os.access(path, os.W_OK)))


def reading_mode(path: Path) -> str:
    """Without write access to the folder SQLite cannot make its log; with no log there nobody is writing either."""
    log = path.with_name(f"{path.name}-wal")
    logged = log.exists() and log.stat().st_size > 0
    return "ro" if logged or os.access(path.absolute().parent, os.W_OK) else "immutable"


def _free_log(path: Path) -> None:
    """SQLite makes its log with the rights of the store; one that was read while it was read-only left it read-only."""
    for side in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if side.exists() and not os.access(side, os.W_OK):
            with suppress(OSError):  # not ours: the write says that it was refused
                side.chmod(path.stat().st_mode)


def _refuse_unready(path: Path, state: State) -> None:
    if state is State.EMPTY:
        raise ReadOnlyError(f"there is no store at {path} yet, and it cannot be written")
    if state is State.OLDER:
        raise ReadOnlyError(f"{path} has an older schema; open it once with write access to bring it up to date")


def _warn_of_network(path: Path) -> None:
    if (network := network_of(path)) is not None:
        warnings.warn(f"{path} lies on a network file system ({network}): {ONE_MACHINE}", stacklevel=4)


def _prepare(
    path: Path, busy_timeout: float, migrations: Sequence[Migration], state: State, cipher: Cipher | None
) -> None:
    if state is State.CURRENT:
        return
    if not path.absolute().parent.is_dir():
        raise StoreError(f"the folder of {path} does not exist")
    try:
        migrate(path, busy_timeout, migrations, cipher)
    except sqlite3.Error as error:
        raise typed_error(error, path) from error
    except OSError as error:
        raise StoreError(f"{path} could not be copied aside before its migration: {error.strerror}") from error


def _record_of(collection: str, row: Row) -> Record:
    """Return the record in a row; a value that is none holds nothing, which its reader takes for a damaged record."""
    key, version, value, about, session = row
    sound((key, version), (str, int), "record", f"{collection}/{key}")
    if type(value) is not bytes:
        value = b""
    return Record(collection=collection, key=key, version=version, value=value, about=about, session=session)


def _vectors(connection: sqlite3.Connection, namespace: str, model: str, ids: Sequence[str]) -> dict[str, bytes]:
    select = "SELECT memory, data FROM vectors WHERE namespace = ? AND model = ? AND memory IN"
    found = find(connection, select, (namespace, model), ids)
    return {name: data for name, data in found if type(data) is bytes}


def _merged(
    memories: list[Memory], restaged: list[Row], erased: list[Row], *, since: int, limit: int, state: tuple[int, int]
) -> Changes:
    value, reset = state
    news = [restaged_of(row) for row in restaged]
    gone = [sound(row, (int, str), "tombstone", row[1]) for row in erased]
    numbers = sorted(
        [*(memory.changed for memory in memories), *(number for number, _ in news), *(number for number, _ in gone)]
    )
    more = len(numbers) > limit
    upto = max(since, value)
    if more:
        upto = numbers[limit - 1] if limit > 0 else since
    return Changes(
        memories=tuple(memory for memory in memories if memory.changed <= upto),
        restaged=tuple(told for number, told in news if number <= upto),
        erased=tuple(name for number, name in gone if number <= upto),
        upto=upto,
        more=more,
        reset=reset > since,
    )
