"""What may stand in a store's schema: what the shipped migrations make, and nothing else.

A trigger from elsewhere could copy what is erased, or change what is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from haversack.errors import NotAStoreError
from haversack.store.sqlite.migrate import Migration

__all__ = ["ALL", "REACTING", "SchemaObject", "behind", "foreign_objects", "refuse_foreign_objects"]

REACTING = frozenset({"trigger", "view"})
"""Types of objects that no version of a store has."""
ALL = REACTING | {"table", "index"}
_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
_REPLICATION = "_litestream_"
"""Prefix of the tables that a replication tool keeps in the file; they react to nothing."""


class SchemaObject(NamedTuple):
    """A table, index, view or trigger."""

    type: str
    name: str
    table: str
    sql: str


def behind(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> tuple[Migration, ...]:
    """Return those of the migrations that the file has behind it."""
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    return tuple(step for step in migrations if step.number <= number)


def foreign_objects(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> list[SchemaObject]:
    """Return what these migrations do not make, and what is otherwise than they make it."""
    found = _objects(connection)
    return sorted(
        each
        for each in found - _made_by(tuple(migrations))
        if each.type != "table" or not each.name.startswith(_REPLICATION)
    )


def refuse_foreign_objects(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration], *, only: Collection[str] = ALL
) -> None:
    """Raise NotAStoreError when the schema holds anything, of these types, that these migrations do not make."""
    for each in foreign_objects(connection, migrations):
        if each.type not in only:
            continue
        raise NotAStoreError(
            f"{path} holds the {each.type} {each.name!r}, which Haversack did not make, or not so: it could change what"
            " is stored or keep what is erased. See `haversack doctor`, which can remove it"
        )


@cache
def _made_by(migrations: tuple[Migration, ...]) -> frozenset[SchemaObject]:
    connection = sqlite3.connect(":memory:")
    try:
        for statement in (statement for migration in migrations for statement in migration.statements):
            connection.execute(statement)
        return _objects(connection)
    finally:
        connection.close()


def _objects(connection: sqlite3.Connection) -> frozenset[SchemaObject]:
    return frozenset(
        SchemaObject(kind, name, table, " ".join((sql or "").split()))
        for kind, name, table, sql in connection.execute(_OBJECTS)
    )
