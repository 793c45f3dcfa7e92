"""Encrypting a store, giving it another key, or taking the encryption away: a new file in the old one's place.

SQLCipher could change a file's pages where they are; a copy that is compared and then exchanged in one step leaves a
whole store at every moment, whatever dies when.
"""

# ruff: noqa: S608 - statements are put together from our own names, never from values

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from haversack.errors import StoreError
from haversack.private import create
from haversack.store.sqlite.cipher import Cipher
from haversack.store.sqlite.connection import address
from haversack.store.sqlite.site import alone, put_in_place, typed

__all__ = ["rekey"]


def rekey(path: Path, old: Cipher | None, new: Cipher | None) -> dict[str, int]:
    """Write the store anew under the new key, in the old file's place; rows by table, the same in both.

    None stands for no encryption. Raises BusyError while anybody has it open, and StoreError; then it is as it was.
    """
    with alone(path, old):
        pass  # its log is folded in and gone
    with typed(path):
        return _exchange(path, old, new)


def _exchange(path: Path, old: Cipher | None, new: Cipher | None) -> dict[str, int]:
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}-rekey")
    reach = Cipher.plainly if old is None else old.connect
    partial.unlink(missing_ok=True)  # of a dead process that had our number
    try:
        create(partial).close()
        with closing(reach(path, address(path, "mode=rw"), uri=True, timeout=0.5, isolation_level=None)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")  # the lock stays until the end
            counts = _export(connection, partial, new)
            with partial.open("rb") as file:
                os.fsync(file.fileno())
            put_in_place(partial, path)
            return counts
    finally:
        partial.unlink(missing_ok=True)


def _export(connection: sqlite3.Connection, target: Path, new: Cipher | None) -> dict[str, int]:
    connection.execute("ATTACH DATABASE ? AS fresh KEY ?", (str(target), "" if new is None else new.spec()))
    connection.execute("PRAGMA fresh.secure_delete = ON")
    connection.execute("SELECT sqlcipher_export('fresh')").fetchall()
    for name in ("application_id", "user_version"):
        (value,) = connection.execute(f"PRAGMA main.{name}").fetchone()
        connection.execute(f"PRAGMA fresh.{name} = {value}")
    counts, copied = _counts(connection, "main"), _counts(connection, "fresh")
    if counts != copied or connection.execute("PRAGMA fresh.integrity_check").fetchall() != [("ok",)]:
        raise StoreError("the copy under the new key is not the store; nothing was changed")
    connection.execute("DETACH DATABASE fresh")
    return counts


def _counts(connection: sqlite3.Connection, schema: str) -> dict[str, int]:
    tables = connection.execute(f"SELECT name FROM {schema}.sqlite_schema WHERE type = 'table' ORDER BY 1").fetchall()
    return {name: connection.execute(f"SELECT count(*) FROM {schema}.{name}").fetchone()[0] for (name,) in tables}
