"""Connections to one file: one per thread and process, set up alike, with SQLite's errors made ours.

A connection that a forked child inherits is never used or closed there: closing it could disturb the parent's locks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import quote

from haversack.errors import (
    BusyError,
    InputError,
    NewerStoreError,
    NoSpaceError,
    NotAStoreError,
    ReadOnlyError,
    StoreError,
)
from haversack.lazy import lazy

if TYPE_CHECKING:
    import shutil

    from haversack.store.sqlite.cipher import Cipher
else:
    shutil = lazy("shutil")

__all__ = ["Connections", "Lease", "address", "begin_reading", "connect", "end_reading", "typed_error"]

_SETTINGS = (
    "PRAGMA synchronous = FULL",  # an acknowledged write survives a power cut
    "PRAGMA secure_delete = ON",  # freed cells and pages are overwritten with zeros
    "PRAGMA trusted_schema = OFF",  # what stands in a schema calls no function that has effects
    "PRAGMA cell_size_check = ON",  # a damaged page is noticed when it is read
    "PRAGMA wal_autocheckpoint = 1000",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA cache_size = -8000",
)
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NO_ROOM_BYTES = 1 << 16

_inherited: list[sqlite3.Connection] = []
"""Connections of a parent process, kept from being closed here."""


def address(path: Path, query: str) -> str:
    """Return the file as a URI of SQLite; `Path.as_uri` would load a client for HTTP in newer Pythons."""
    place = path.absolute().as_posix()
    return f"file://{'' if place.startswith('/') else '/'}{quote(place, errors='surrogateescape')}?{query}"


def connect(path: Path, busy_timeout: float, *, mode: str, cipher: Cipher | None = None) -> sqlite3.Connection:
    """A connection in autocommit; `mode` is rw, ro or immutable (nothing can write: neither lock nor WAL)."""
    uri = address(path, "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}")
    options: _Options = {
        "uri": True,
        "timeout": busy_timeout,
        "isolation_level": None,
        "check_same_thread": False,  # one thread uses it, another may close it
        "cached_statements": 256,
    }
    try:
        connection = sqlite3.connect(uri, **options) if cipher is None else cipher.connect(path, uri, **options)
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            _defend(connection)
        except BaseException:
            connection.close()
            raise
    except UnicodeDecodeError as error:
        raise _undecodable(error) from error
    return connection


def _undecodable(error: UnicodeDecodeError) -> sqlite3.DatabaseError:
    """Return the error that SQLite meant: its message quotes a damaged schema, which Python could not decode."""
    meant = sqlite3.DatabaseError(error.object.decode("utf-8", "replace"))
    meant.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    meant.sqlite_errorname = "SQLITE_CORRUPT"
    return meant


def _defend(connection: sqlite3.Connection) -> None:
    """Take away statements that could damage the file, where Python can (from 3.12)."""
    configure: Callable[[int, bool], None] | None = getattr(connection, "setconfig", None)
    option: int | None = getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", None)
    if configure is not None and option is not None:
        configure(option, True)  # noqa: FBT003 - SQLite's own shape


class _Options(TypedDict):
    uri: bool
    timeout: float
    isolation_level: None
    check_same_thread: bool
    cached_statements: int


def begin_reading(connection: sqlite3.Connection) -> bool:
    """Begin to read at one moment, unless that has begun; return whether it began here."""
    if connection.in_transaction:
        return False
    connection.execute("BEGIN")
    return True


def end_reading(connection: sqlite3.Connection, *, begun: bool) -> None:
    """End what `begin_reading` began."""
    if begun:
        connection.execute("COMMIT")


def typed_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Our error for one of SQLite's."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BUSY:
        return BusyError(f"{path} is held by another writer; nothing was saved, try again")
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _room(path) < _NO_ROOM_BYTES):
        return NoSpaceError(f"no space left for {path}; nothing was saved, what was stored before is intact")
    if code == sqlite3.SQLITE_READONLY:
        return ReadOnlyError(f"{path} can be read but not written")
    if code in _DAMAGED:
        return NotAStoreError(f"{path} is not a Haversack store, or it is damaged ({error})")
    return StoreError(f"{path}: {error}")


def _refuse_newer(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Stop a program under which a newer one has brought the schema further; raises NewerStoreError."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > version:
        raise NewerStoreError(
            f"{path} was brought to schema {found} by a newer Haversack while this one, which knows {version}, had it"
            " open; nothing was saved: start this program again, upgraded"
        )


def _identity(path: str | Path, *, least: int = 0) -> tuple[int, int] | None:
    """Which file stands there now; None where there is none of so many bytes."""
    try:
        found = os.stat(path)  # noqa: PTH116 - for every write
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size >= least else None


def _room(path: Path) -> int:
    return shutil.disk_usage(path.absolute().parent).free


class Lease:
    """One thread's connection. As a context it lends the connection and turns SQLite's errors into ours.

    The lock keeps `close` on another thread from closing the connection in the middle of a statement.
    """

    __slots__ = ("__weakref__", "_file", "_lock", "_log", "_log_path", "connection", "path", "pid", "version")

    def __init__(self, path: Path, connection: sqlite3.Connection, version: int) -> None:
        self.path = path
        self.connection = connection
        self.version = version
        self.pid = os.getpid()
        self._file = _identity(path, least=1)
        self._log_path = f"{path}-wal"
        self._log: tuple[int, int] | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin to write, unless the file is not what it was when it was opened: what is written would be lost.

        Raises StoreError for a file that was removed, replaced or emptied, NewerStoreError for one that a newer program
        migrated.
        """
        self.connection.execute("BEGIN IMMEDIATE")
        if _identity(self.path, least=1) != self._file:
            how = "removed, replaced or emptied"
            raise StoreError(f"{self.path} was {how} while it was open; nothing was saved: open it again")
        log = _identity(self._log_path)
        if log != self._log and self._log is not None:
            raise StoreError(
                f"{self._log_path} was removed or replaced while it was in use; nothing was saved: close this program,"
                " which folds in what it holds, and open the store again"
            )
        self._log = log
        _refuse_newer(self.connection, self.path, self.version)

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        return self.connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is not None:
                self._give_up(error)
        finally:
            self._lock.release()

    def _give_up(self, error: BaseException) -> None:
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        except sqlite3.Error:
            pass  # SQLite rolled back by itself (a full disk does that), or the connection is closed
        if isinstance(error, sqlite3.ProgrammingError):
            raise StoreError("this store is closed") from error
        if isinstance(error, sqlite3.Error):
            if not isinstance(error, sqlite3.IntegrityError):
                self._look_for_a_newer_schema()
            raise typed_error(error, self.path) from error
        if isinstance(error, UnicodeDecodeError):
            raise typed_error(_undecodable(error), self.path) from error
        if isinstance(error, MemoryError):
            raise StoreError(f"not enough memory for {self.path}; nothing was saved") from error
        if isinstance(error, UnicodeEncodeError):
            raise InputError("text with a lone surrogate cannot be stored; clean it first") from error

    def _look_for_a_newer_schema(self) -> None:
        """A table or column that is not there any more has this reason."""
        with suppress(sqlite3.Error):
            _refuse_newer(self.connection, self.path, self.version)

    def close(self) -> None:
        """Close the connection once no statement is running on it."""
        with self._lock:
            self.connection.close()

    def __del__(self) -> None:
        if self.pid == os.getpid():
            self.connection.close()
        else:
            _inherited.append(self.connection)


class Connections:
    """The connections of one store in this process."""

    def __init__(
        self, path: Path, busy_timeout: float, *, mode: str, version: int, cipher: Cipher | None = None
    ) -> None:
        self.path = path
        self.version = version
        self.cipher = cipher
        self.busy_timeout = busy_timeout
        self.mode = mode
        self._mine = threading.local()
        self._all: weakref.WeakSet[Lease] = weakref.WeakSet()
        self._closed = False
        self._pinned: Lease | None = None

    def pinned(self) -> Lease:
        """The one connection that all threads have from now on."""
        self._pinned = self.lease()
        return self._pinned

    def lease(self) -> Lease:
        """The calling thread's connection; made at its first call."""
        if self._closed:
            raise StoreError("this store is closed")
        found: Lease | None = self._pinned or getattr(self._mine, "lease", None)
        if found is None or found.pid != os.getpid():
            found = self._new()
        return found

    def _new(self) -> Lease:
        try:
            connection = connect(self.path, self.busy_timeout, mode=self.mode, cipher=self.cipher)
        except sqlite3.Error as error:
            raise typed_error(error, self.path) from error
        made = Lease(self.path, connection, self.version)
        self._mine.lease = made
        self._all.add(made)
        return made

    def close(self) -> None:
        """Close all connections that this process made; later calls raise StoreError."""
        self._closed = True
        for lease in list(self._all):
            if lease.pid == os.getpid():
                lease.close()
