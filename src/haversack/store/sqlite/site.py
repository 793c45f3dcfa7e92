"""The files of a SQLite store: looked at, mended, copied out row by row, put in place of one another."""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from haversack.errors import BusyError, NewerStoreError, NotAStoreError, StoreError
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind
from haversack.private import copy_file
from haversack.store.fault import Fault
from haversack.store.site import Salvaged, exposed
from haversack.store.sqlite.connection import connect, typed_error
from haversack.store.sqlite.migrate import examine, migrate, shipped, snapshots_of
from haversack.store.sqlite.place import ONE_MACHINE, network_of
from haversack.store.sqlite.schema import foreign_in, helps, remove_foreign, told
from haversack.store.sqlite.scrub import is_pending
from haversack.store.sqlite.store import SqliteStore, reading_mode, writable

if TYPE_CHECKING:
    from haversack.store.sqlite.cipher import Cipher

__all__ = ["SqliteSite", "alone", "put_in_place", "typed"]

_RESTORE = "restore the last snapshot, or copy out what can be read with `haversack doctor --salvage NEW`"
_RIGHT = "name the right file and give the key that it was encrypted with, or restore the last snapshot"
_MAKER = re.compile(r"partial-(\d+)|\.(\d+)\.partial")
_BESIDE = ("-wal", "-shm", "-journal", ".previous*", ".restored*", ".before-v*")
"""What else in the folder holds a store's words, by the end of its name."""
_COUNTED = (
    ("prices", "memory"),
    ("vectors", "memory"),
)


class SqliteSite:
    """The store at a path; with a `cipher`, it and its copies are encrypted."""

    def __init__(self, path: Path, cipher: Cipher | None = None) -> None:
        self.path = path
        self._cipher = cipher
        self.newest_schema = shipped()[-1].number

    def schema(self, path: Path) -> int:
        """See the protocol."""
        examine(path, 2**31, self._cipher)
        if not path.exists() or path.stat().st_size == 0:
            return 0
        if self._cipher is not None:
            with typed(path), closing(connect(path, 5.0, mode="ro", cipher=self._cipher)) as connection:
                return connection.execute("PRAGMA user_version").fetchone()[0]
        with path.open("rb") as file:
            return int.from_bytes(file.read(64)[60:64], "big")

    def shown(self, namespace: str) -> str:
        """See the protocol."""
        return namespace if self._cipher is None else self._cipher.veil(namespace)

    def open(self, path: Path, *, read_only: bool = False) -> SqliteStore:
        """See the protocol."""
        return SqliteStore(path, read_only=read_only, cipher=self._cipher)

    def size(self) -> int:
        """See the protocol."""
        names = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(each.stat().st_size for each in names if each.exists())

    def examine(self) -> list[Fault]:
        """See the protocol."""
        found = list(self._leftovers())
        try:
            examine(self.path, self.newest_schema, self._cipher)
        except NewerStoreError as error:
            return [*found, Fault(code="newer", what=str(error), helps="upgrade Haversack")]
        except NotAStoreError as error:
            return [*found, Fault(code="not-a-store", what=str(error), helps=_RIGHT)]
        if not self.path.exists():
            return [*found, Fault(code="missing", what=f"there is no file at {self.path}", helps=_RESTORE)]
        try:
            # Writable where it can be: what a killed process left half done is then rolled back by looking.
            mode = "rw" if writable(self.path) else reading_mode(self.path)
            with closing(connect(self.path, 5.0, mode=mode, cipher=self._cipher)) as connection:
                return [*found, *_foreign(connection, self.path), *_looked_into(connection)]
        except sqlite3.Error as error:
            return [*found, Fault(code="unreadable", what=str(typed_error(error, self.path)), helps=_RESTORE)]

    def sweep(self) -> list[Path]:
        """See the protocol."""
        left = _partials(self.path)
        for partial in left:
            partial.unlink(missing_ok=True)
        return left

    def mend(self) -> list[str]:
        """See the protocol."""
        done = [f"removed {partial.name}, a copy that was not finished" for partial in self.sweep()]
        with typed(self.path), closing(connect(self.path, 5.0, mode="rw", cipher=self._cipher)) as connection:
            done += [f"removed the {each.kind} {each.name}" for each in remove_foreign(connection, shipped())]
            for table, column in _COUNTED:
                gone = connection.execute(f"DELETE FROM {table} AS t WHERE {_orphaned(column)}").rowcount
                done += [f"removed {gone} {table} of memories that are gone"] if gone else []
            if _index_faults(connection):
                connection.execute("REINDEX")
                done.append("rebuilt the indexes from the rows")
        with closing(self.open(self.path)) as store:
            if not store.scrub():
                done.append("an erasure still waits for a reader to end")
        return done

    def salvage(self, target: Path) -> Salvaged:
        """See the protocol."""
        if target.exists():
            raise StoreError(f"{target} exists already; salvaging never replaces a file")
        self.open(target).close()
        rows, lost = 0, list[str]()
        with (
            typed(self.path),
            closing(connect(target, 5.0, mode="rw", cipher=self._cipher)) as into,
            _damaged(self.path, self._cipher) as damaged,
        ):
            tables = into.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
            for (table,) in tables:
                read, whole = _copy_readable(damaged, into, table)
                rows += read
                lost += [] if whole else [table]
            _recount(into)
        return Salvaged(rows=rows, lost_tables=tuple(lost))

    def exchange(self, replacement: Path, keep: Path) -> None:
        """See the protocol.

        Leaving the write-ahead log wants the file for oneself: it fails while any other connection is open, and folds
        the log into the file, so that one rename exchanges everything.
        """
        if keep.exists():
            if not (self.path.exists() and keep.samefile(self.path)):
                raise StoreError(f"{keep} exists already; the present store would not be kept")
            keep.unlink()  # an exchange that was interrupted before its second step
        with typed(replacement):
            migrate(replacement, 5.0, shipped(), self._cipher)
        with alone(replacement, self._cipher):
            pass
        if not self.path.exists():
            put_in_place(replacement, self.path)
            return
        try:
            with alone(self.path, self._cipher) as connection:
                connection.execute("BEGIN EXCLUSIVE")
                _link(self.path, keep)
                put_in_place(replacement, self.path)
                connection.execute("ROLLBACK")
        except NotAStoreError:
            self._exchange_damaged(replacement, keep)

    def _exchange_damaged(self, replacement: Path, keep: Path) -> None:
        """Nobody can work with the present file; its log is kept beside it, for it must not meet the new one."""
        _link(self.path, keep)
        for end in ("-wal", "-shm"):
            side = self.path.with_name(f"{self.path.name}{end}")
            if side.exists():
                side.replace(keep.with_name(f"{keep.name}{end}"))
        put_in_place(replacement, self.path)

    def _leftovers(self) -> Iterator[Fault]:
        for partial in _partials(self.path):
            what = f"{partial.name} is a copy that was not finished"
            yield Fault(code="partial", what=what, helps="--fix removes it", severe=False, mends=True)
        folder = self.path.absolute().parent
        for copy in snapshots_of(self.path) if folder.is_dir() else ():
            what = f"{copy.name} was kept when the schema was brought up to date"
            yield Fault(code="old-schema", what=what, helps="remove it when you trust the new one", severe=False)
        if (network := network_of(self.path)) is not None:
            what = f"the store lies on a network file system ({network}), where two machines can damage it"
            yield Fault(code="network", what=what, helps=ONE_MACHINE, severe=False)
        yield from exposed(self._private())

    def _private(self) -> list[Path]:
        """The store's file, and what stands beside it under names that begin like it."""
        folder, name = self.path.absolute().parent, _literal(self.path.name)
        patterns = (name, *(f"{name}{end}" for end in _BESIDE))
        return sorted({each for pattern in patterns for each in folder.glob(pattern)})


def _foreign(connection: sqlite3.Connection, path: Path) -> Iterator[Fault]:
    if found := foreign_in(connection, shipped()):
        what = f"the schema is not the one that Haversack makes: {told(found)}"
        mends = all(each.is_removable for each in found)
        yield Fault(code="schema", what=what, helps=helps(found, path), mends=mends)


def _looked_into(connection: sqlite3.Connection) -> list[Fault]:
    found = [
        Fault(code="damaged", what=line, helps=_RESTORE)
        for (line,) in connection.execute("PRAGMA integrity_check(20)")
        if line != "ok" and not _is_about_index(line)
    ]
    if _index_faults(connection):
        what = "an index does not agree with its table"
        found.append(Fault(code="index", what=what, helps="--fix rebuilds it from the rows", mends=True))
    if found:
        return found
    for table, column in _COUNTED:
        (count,) = connection.execute(f"SELECT count(*) FROM {table} AS t WHERE {_orphaned(column)}").fetchone()
        if count:
            what = f"{count} {table} belong to memories that are gone"
            found.append(Fault(code="orphans", what=what, helps="--fix removes them", severe=False, mends=True))
    if is_pending(connection):
        what = "an erasure is not finished in the file's unused parts"
        found.append(Fault(code="unscrubbed", what=what, helps="--fix finishes it", severe=False, mends=True))
    return found + list(_wrong_words(connection)) + list(_wrong_counts(connection))


def _wrong_words(connection: sqlite3.Connection) -> Iterator[Fault]:
    """A statement whose words do not give its fingerprint: bits turned on the disk, for no program writes that."""
    select = "SELECT namespace, id, kind, content, fingerprint FROM memories WHERE fingerprint IS NOT NULL"
    try:
        for namespace, name, kind, content, mark in connection.execute(select):
            if kind not in set(Kind) or type(content) is not str or fingerprint(Kind(kind), content) != mark:
                what = f"the words of memory {name} in namespace {namespace!r} are not those that were stored"
                yield Fault(code="altered", what=what, helps=_RESTORE)
    except (sqlite3.Error, UnicodeError) as error:
        yield Fault(code="altered", what=f"a memory cannot be read: {error}", helps=_RESTORE)


def _wrong_counts(connection: sqlite3.Connection) -> Iterator[Fault]:
    select = (
        "SELECT s.namespace, max(m.changed), s.value FROM memories m JOIN sequences s USING (namespace)"
        " GROUP BY s.namespace HAVING max(m.changed) > s.value"
    )
    for namespace, newest, value in connection.execute(select):
        what = f"namespace {namespace!r} counts to {value}, but holds a memory changed at {newest}"
        yield Fault(code="sequence", what=what, helps=_RESTORE)


def _index_faults(connection: sqlite3.Connection) -> bool:
    return any(_is_about_index(line) for (line,) in connection.execute("PRAGMA integrity_check(100)"))


def _is_about_index(line: str) -> bool:
    return "missing from index" in line or "wrong # of entries in index" in line or "non-unique entry in index" in line


def _orphaned(column: str) -> str:
    return f"NOT EXISTS (SELECT 1 FROM memories m WHERE m.namespace = t.namespace AND m.id = t.{column})"


def _partials(path: Path) -> list[Path]:
    """Copies and snapshots that were never finished: the process that made each, named in the file's name, is gone."""
    folder = path.absolute().parent
    beside = (f"{path.name}.*.partial", f"{path.name}.partial-*", f"{path.name}.snapshots/*.partial*")
    return sorted(each for name in beside for each in folder.glob(_literal(name)) if _is_left(each))


def _is_left(partial: Path) -> bool:
    maker = _MAKER.search(partial.name)
    if maker is None:
        return False
    try:
        os.kill(int(maker[1] or maker[2]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _literal(pattern: str) -> str:
    return pattern.replace("[", "[[]")


@contextmanager
def _damaged(path: Path, cipher: Cipher | None) -> Generator[sqlite3.Connection]:
    """A reader that takes words as they are; what is no UTF-8 any more shows U+FFFD."""
    with closing(connect(path, 5.0, mode="ro", cipher=cipher)) as connection:
        connection.text_factory = _readable
        yield connection


def _copy_readable(source: sqlite3.Connection, into: sqlite3.Connection, table: str) -> tuple[int, bool]:
    """Row by row from the front, then from the back to where the damage is; whether all of it was read."""
    columns = [name for name in _columns(into, table) if name in _columns(source, table)]
    insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    whole, before = True, into.total_changes
    for order in ("", " DESC"):
        select = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {_key(into, table, order)}"
        try:
            for row in source.execute(select):
                try:
                    into.execute(insert, row)
                except sqlite3.IntegrityError:
                    whole = False
        except sqlite3.DatabaseError:
            whole = False
            continue
        break
    return into.total_changes - before, whole


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]


def _key(connection: sqlite3.Connection, table: str, order: str) -> str:
    keys = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (table,)).fetchall()
    return ", ".join(f"{name}{order}" for (name,) in keys)


def _readable(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _recount(connection: sqlite3.Connection) -> None:
    """Every namespace that has rows has a counter, and none is behind its rows."""
    connection.execute(
        "INSERT OR IGNORE INTO sequences (namespace, value, reset, erasures, scrubbed)"
        " SELECT DISTINCT namespace, 0, 0, 0, 0 FROM memories"
    )
    connection.execute(
        "UPDATE sequences SET value = max(value, coalesce((SELECT max(changed) FROM memories m"
        " WHERE m.namespace = sequences.namespace), 0), coalesce((SELECT max(changed) FROM tombstones t"
        " WHERE t.namespace = sequences.namespace), 0))"
    )


@contextmanager
def typed(path: Path) -> Generator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise typed_error(error, path) from error


@contextmanager
def alone(path: Path, cipher: Cipher | None) -> Generator[sqlite3.Connection]:
    """A connection while nobody else has the file, its log folded in and gone; BusyError otherwise."""
    try:
        with closing(connect(path, 0.5, mode="rw", cipher=cipher)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
            if mode != "delete":
                raise BusyError(f"{path} is open in another process: close it first")
            yield connection
    except sqlite3.Error as error:
        busy = (getattr(error, "sqlite_errorcode", 0) & 0xFF) == sqlite3.SQLITE_BUSY
        raise (
            BusyError(f"{path} is open in another process: close it first") if busy else typed_error(error, path)
        ) from error


def _link(path: Path, keep: Path) -> None:
    try:
        os.link(path, keep)
    except OSError:  # a file system without hard links
        copy_file(path, keep)


def put_in_place(replacement: Path, path: Path) -> None:
    """One file in another's place, in one step, durable on return."""
    replacement.replace(path)
    handle = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
