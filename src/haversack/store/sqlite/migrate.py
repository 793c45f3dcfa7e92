"""What a file is before it is opened, and bringing its schema up to date.

Each migration is a numbered SQL file, one transaction, and may be run again over its own result. Two programs may
open one old file at once: the write lock lets one of them migrate, the other finds it done.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from haversack.errors import NewerStoreError, NotAStoreError
from haversack.private import create
from haversack.store.sqlite.connection import connect, typed_error
from haversack.store.sqlite.schema import refuse_acting

if TYPE_CHECKING:
    from haversack.store.sqlite.cipher import Cipher

__all__ = [
    "APPLICATION_ID",
    "Migration",
    "State",
    "confirm",
    "copy_into",
    "examine",
    "migrate",
    "shipped",
    "snapshots_of",
]

APPLICATION_ID = 0x48565343
"""`HVSC` in the file's header says that it is ours."""

_MAGIC = b"SQLite format 3\x00"
_HEADER = 112
_LEAF = b"\x0d"
_LOGGED = b"\x02\x02"
_ADD_COLUMN = re.compile(r"ALTER\s+TABLE\s+(\w+)\s+ADD\s+(?:COLUMN\s+)?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema."""

    number: int
    """The schema version that it leads to."""
    statements: tuple[str, ...]


class State(Enum):
    """What stands at a path."""

    EMPTY = "empty"
    """No file, no bytes, or a database without tables: it becomes a store."""
    OLDER = "older"
    UNLOGGED = "unlogged"
    """Current, but not yet switched to the write-ahead log: a snapshot is so."""
    CURRENT = "current"


@cache
def shipped() -> tuple[Migration, ...]:
    """The migrations of this program, from 1."""
    scripts = sorted((Path(__file__).parent / "sql").glob("*.sql"))
    return tuple(
        Migration(number=int(each.name[:4]), statements=tuple(_statements(each.read_text("utf-8")))) for each in scripts
    )


def examine(path: Path, version: int, cipher: Cipher | None = None) -> State:
    """What the file is, read from its first bytes alone, so that a foreign or newer file is not touched.

    An encrypted one is opened for reading. Raises NotAStoreError or NewerStoreError.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise NotAStoreError(f"{path} is no file that could hold a store")
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER)
    except FileNotFoundError:
        return State.EMPTY
    except OSError as error:
        raise NotAStoreError(f"{path} cannot be read as a store: {error.strerror}") from error
    if not head:
        return State.EMPTY
    if cipher is not None:
        return _examine_encrypted(path, version, cipher, plain=head.startswith(_MAGIC))
    if len(head) < _HEADER or not head.startswith(_MAGIC):
        raise NotAStoreError(
            f"{path} is not a Haversack store, or it is encrypted and no key was given; it was not touched"
        )
    state = _judge(
        path,
        application=int.from_bytes(head[68:72], "big"),
        found=int.from_bytes(head[60:64], "big"),
        empty=head[100:101] == _LEAF and head[103:105] == b"\0\0",  # the schema's page is a leaf without cells
        version=version,
    )
    return State.UNLOGGED if state is State.CURRENT and head[18:20] != _LOGGED else state


def _examine_encrypted(path: Path, version: int, cipher: Cipher, *, plain: bool) -> State:
    if plain:
        raise NotAStoreError(f"{path} is not encrypted, but a key was given: `haversack rekey` encrypts it")
    mode = "ro" if os.access(path.absolute().parent, os.W_OK) else "immutable"
    try:
        with closing(connect(path, 5.0, mode=mode, cipher=cipher)) as connection:
            state = _look(connection, path, version)
            (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
    except sqlite3.DatabaseError as error:
        if (getattr(error, "sqlite_errorcode", 0) & 0xFF) != sqlite3.SQLITE_NOTADB:
            raise typed_error(error, path) from error
        raise NotAStoreError(
            f"the key does not open {path}, or it is damaged or no store; it was not touched"
        ) from None
    return State.UNLOGGED if state is State.CURRENT and journal != "wal" else state


def confirm(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse a store whose log has what its header does not show yet, like a newer schema."""
    state = _look(connection, path, version)
    if state is not State.CURRENT:
        raise NotAStoreError(f"{path} changed its schema while it was opened")


def migrate(path: Path, busy_timeout: float, migrations: Sequence[Migration], cipher: Cipher | None = None) -> None:
    """Bring the file up to the last of the migrations; a store that held something is copied aside first.

    The copy `NAME.before-vN` stays until the next hard erasure, or until its owner removes it.
    """
    with suppress(OSError):  # it is there, or opening it says why it cannot be
        create(path.resolve()).close()
    connection = connect(path, busy_timeout, mode="rw", cipher=cipher)
    try:
        _use_wal(connection, busy_timeout)
        untouched = True
        for migration in migrations:
            keep = partial(_keep_copy, path, migration.number, cipher) if untouched else None
            ran = _step(connection, path, migration, newest=migrations[-1].number, keep=keep)
            untouched = untouched and not ran
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the header alone tells the version
    finally:
        connection.close()


def copy_into(connection: sqlite3.Connection, target: Path) -> None:
    """A consistent copy in one step, in place of what is at the path; it appears there whole or not at all."""
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        create(partial).close()  # VACUUM INTO fills an empty file, and would make one that anybody can read
        connection.execute("VACUUM INTO ?", (str(partial),))
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def snapshots_of(path: Path) -> list[Path]:
    """The copies that migrations left beside a store."""
    prefix = f"{path.name}.before-v"
    return sorted(each for each in path.parent.iterdir() if each.name.startswith(prefix))


def _step(
    connection: sqlite3.Connection, path: Path, migration: Migration, *, newest: int, keep: Callable[[], None] | None
) -> bool:
    """Run one migration unless it is behind us; whether it ran. `keep` copies aside what was there before."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        _look(connection, path, newest)
        refuse_acting(connection, path)
        found = _number(connection, "PRAGMA user_version")
        ahead = found < migration.number
        if ahead and keep is not None and found > 0:
            keep()
        if ahead:
            _run(connection, migration)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return ahead


def _keep_copy(path: Path, version: int, cipher: Cipher | None) -> None:
    reader = connect(path, 1.0, mode="rw", cipher=cipher)
    try:
        copy_into(reader, path.with_name(f"{path.name}.before-v{version}"))
    finally:
        reader.close()


def _run(connection: sqlite3.Connection, migration: Migration) -> None:
    for statement in migration.statements:
        if not _column_is_there(connection, statement):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {migration.number}")


def _column_is_there(connection: sqlite3.Connection, statement: str) -> bool:
    """SQLite has no ADD COLUMN IF NOT EXISTS."""
    added = _ADD_COLUMN.match(statement)
    if added is None:
        return False
    columns = connection.execute("SELECT name FROM pragma_table_info(?)", (added[1],))
    return any(name.casefold() == added[2].casefold() for (name,) in columns)


def _judge(path: Path, *, application: int, found: int, empty: bool, version: int) -> State:
    if application == 0 and found == 0 and empty:
        return State.EMPTY
    if application != APPLICATION_ID:
        raise NotAStoreError(f"{path} is another program's SQLite database; it was not touched")
    if found > version:
        raise NewerStoreError(
            f"{path} has schema {found}, this program knows {version}: upgrade Haversack to open it; it was not touched"
        )
    return State.CURRENT if found == version else State.OLDER


def _look(connection: sqlite3.Connection, path: Path, version: int) -> State:
    return _judge(
        path,
        application=_number(connection, "PRAGMA application_id"),
        found=_number(connection, "PRAGMA user_version"),
        empty=_number(connection, "SELECT count(*) FROM sqlite_schema") == 0,
        version=version,
    )


def _use_wal(connection: sqlite3.Connection, busy_timeout: float) -> None:
    """Turn the write-ahead log on. SQLite does not wait by itself here when another connection is at work."""
    deadline = time.monotonic() + busy_timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _number(connection: sqlite3.Connection, statement: str) -> int:
    return connection.execute(statement).fetchone()[0]


def _statements(script: str) -> Iterator[str]:
    gathered = ""
    for line in script.splitlines():
        if not gathered and (not line.strip() or line.lstrip().startswith("--")):
            continue
        gathered += line + "\n"
        if sqlite3.complete_statement(gathered):
            yield gathered.strip()
            gathered = ""
