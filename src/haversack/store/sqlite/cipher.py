"""Files that SQLCipher keeps encrypted, opened through an interface that is SQLite's own down to its errors.

Importing this needs the package of the extra `encrypt`. The key is turned into SQLCipher's by its own derivation
(PBKDF2-HMAC-SHA512, 256,000 rounds, the salt in the file's first 16 bytes), once for each file instead of for each
connection: any SQLCipher 4 opens the file by the same passphrase.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, cast

from haversack.errors import ConfigError

__all__ = ["Cipher"]

_ROUNDS = 256_000
_SALT = 16
_NAMES = b"haversack: names of namespaces"
_driver: Any = import_module("sqlcipher3.dbapi2")


class Cipher:
    """A key. Its text never leaves this object but to SQLCipher and into hashes."""

    def __init__(self, key: str | bytes | Callable[[], str | bytes]) -> None:
        """`key` is a passphrase, or a function that gives it; raises ConfigError for an empty one."""
        given = key() if callable(key) else key
        self._key = given.encode() if isinstance(given, str) else given
        if not self._key:
            raise ConfigError("the store's key is empty")
        self._derived: dict[bytes, str] = {}
        self._lock = Lock()

    def __repr__(self) -> str:
        return "Cipher(…)"

    def connect(self, path: Path, address: str, /, **options: Any) -> sqlite3.Connection:
        """A connection to the file, or to one that it makes; the right key is proven by reading.

        Raises sqlite3.DatabaseError (SQLITE_NOTADB) for a wrong key, as for what is no database.
        """
        salt = _salt_of(path)
        try:
            return self._keyed(address, salt, options)
        except sqlite3.DatabaseError:
            if (again := _salt_of(path)) in {salt, None}:
                raise
            return self._keyed(address, again, options)  # somebody else made the file in between

    def spec(self, salt: bytes | None = None) -> str:
        """The key as SQLCipher's statements take it, for the file with this salt, or for a new one."""
        salt = salt or os.urandom(_SALT)
        return f"x'{self._derive(salt)}{salt.hex()}'"

    @staticmethod
    def plainly(_path: Path, address: str, /, **options: Any) -> sqlite3.Connection:
        """A connection of SQLCipher's to a file that is not encrypted."""
        with _as_sqlite():
            return cast("sqlite3.Connection", _driver.connect(address, factory=_Connection, **options))

    def veil(self, name: str) -> str:
        """What stands for a namespace's name where it is not encrypted: the same each time, and not to be read."""
        key = bytes.fromhex(self._derive(_NAMES))
        return hmac.new(key, name.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]

    def _keyed(self, address: str, salt: bytes | None, options: dict[str, Any]) -> sqlite3.Connection:
        with _as_sqlite():
            connection = _driver.connect(address, factory=_Connection, **options)
        try:
            connection.execute("PRAGMA cipher_log_level = NONE")  # what it would print, the errors say
            connection.execute(f'PRAGMA key = "{self.spec(salt)}"')
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except BaseException:
            connection.close()
            raise
        return cast("sqlite3.Connection", connection)

    def _derive(self, salt: bytes) -> str:
        with self._lock:
            if salt not in self._derived:
                self._derived[salt] = hashlib.pbkdf2_hmac("sha512", self._key, salt, _ROUNDS, 32).hex()
            return self._derived[salt]


def _salt_of(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_SALT) or None
    except FileNotFoundError:
        return None


@contextmanager
def _as_sqlite() -> Generator[None]:
    """SQLCipher's errors are another family with the same names and codes."""
    try:
        yield
    except _driver.Error as error:
        ours: type[sqlite3.Error] = getattr(sqlite3, type(error).__name__, sqlite3.Error)
        translated = ours(*error.args)
        for name in ("sqlite_errorcode", "sqlite_errorname"):
            if hasattr(error, name):
                setattr(translated, name, getattr(error, name))
        raise translated from None


def _wrapped(kind: Any, name: str) -> Callable[..., Any]:
    inner = getattr(kind, name)

    def call(*args: Any, **options: Any) -> Any:
        with _as_sqlite():
            return inner(*args, **options)

    return call


class _Cursor(_driver.Cursor):  # pyright: ignore[reportUntypedBaseClass]
    """A cursor that raises SQLite's errors."""

    execute, executemany, fetchone, fetchmany, fetchall, __next__ = (
        _wrapped(_driver.Cursor, name)
        for name in ("execute", "executemany", "fetchone", "fetchmany", "fetchall", "__next__")
    )


class _Connection(_driver.Connection):  # pyright: ignore[reportUntypedBaseClass]
    """A connection that raises SQLite's errors, and whose cursors do."""

    execute, executemany, close = (_wrapped(_driver.Connection, name) for name in ("execute", "executemany", "close"))

    def cursor(self, factory: Any = _Cursor) -> Any:
        with _as_sqlite():
            return _driver.Connection.cursor(self, factory)
