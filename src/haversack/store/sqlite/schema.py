"""What a store's schema must be: just what the migrations make.

A trigger from elsewhere could change what is written, or keep what is erased, and no count of rows would show it.
"""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from haversack.errors import NotAStoreError

if TYPE_CHECKING:
    from haversack.store.sqlite.migrate import Migration

__all__ = ["Foreign", "foreign_in", "helps", "refuse_acting", "refuse_foreign", "remove_foreign", "told"]

_TOKEN = re.compile(r"""'(?:[^']|'')*+'?|"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\]]*+\]?|\w+|[^\s\w]""")
_KINDS = frozenset({"trigger", "view", "index"})
"""Objects that hold no rows of their own."""
_SHOWN = 3
_STATISTICS = "sqlite_stat"
"""Tables of SQLite's own ANALYZE; they may hold samples of what was erased."""

_Object = tuple[str, str]
_Shape = dict[_Object, tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """An object of a store's schema that is not as the migrations make it."""

    kind: str
    name: str
    how: str
    """`added`, `changed` or `missing`."""

    @property
    def is_removable(self) -> bool:
        """Whether it can be removed without losing a row of anybody's."""
        return self.how == "added" and (self.kind in _KINDS or self.name.startswith(_STATISTICS))

    def __str__(self) -> str:
        return f"{self.kind} {self.name} was {'removed' if self.how == 'missing' else self.how}"


def foreign_in(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> list[Foreign]:
    """Return what differs between the schema and the one that these migrations make, in any file of theirs."""
    found, wanted = _shape_of(connection), _made_by(tuple(migrations))
    if found == wanted:
        return []
    return [
        Foreign(kind=kind, name=name, how=_how(found.get((kind, name)), wanted.get((kind, name))))
        for kind, name in sorted(found.keys() | wanted.keys())
        if found.get((kind, name)) != wanted.get((kind, name))
    ]


def refuse_foreign(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Raise NotAStoreError, naming the objects and what helps, for a schema that is not ours."""
    _refuse(foreign_in(connection, migrations), path)


def refuse_acting(connection: sqlite3.Connection, path: Path) -> None:
    """Raise NotAStoreError for triggers and views, which could do something while a store is migrated."""
    rows = connection.execute("SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY 1, 2")
    _refuse([Foreign(kind=kind, name=name, how="added") for kind, name in rows.fetchall()], path)


def _refuse(found: Sequence[Foreign], path: Path) -> None:
    if found:
        raise NotAStoreError(f"{path} has a schema that Haversack did not make: {told(found)}. {helps(found, path)}")


def told(found: Sequence[Foreign]) -> str:
    """Return the first few as a phrase."""
    return "; ".join(map(str, found[:_SHOWN])) + ("; …" if len(found) > _SHOWN else "")


def helps(found: Sequence[Foreign], path: Path) -> str:
    """Return what to do about them."""
    if all(each.is_removable for each in found):
        return f"`haversack doctor --fix --store {shlex.quote(str(path))}` removes it and keeps every memory"
    return (
        f"`haversack doctor --salvage NEW --store {shlex.quote(str(path))}` copies every memory to a store without it"
    )


def remove_foreign(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> list[Foreign]:
    """Remove what holds no rows, triggers first, so that none of them sees what follows; returns what was removed."""
    removable = [each for each in foreign_in(connection, migrations) if each.is_removable]
    for each in sorted(removable, key=lambda one: one.kind != "trigger"):
        quoted = each.name.replace('"', '""')
        connection.execute(f'DROP {each.kind} "{quoted}"')
    return removable


@cache
def _made_by(migrations: tuple[Migration, ...]) -> _Shape:
    with closing(sqlite3.connect(":memory:")) as connection:
        for migration in migrations:
            for statement in migration.statements:
                connection.execute(statement)
        return _shape_of(connection)


def _shape_of(connection: sqlite3.Connection) -> _Shape:
    """Each object by kind and name: its table, and the words of its definition without blanks, case and quotes."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    return {(kind, name): (table, _words(sql or "")) for kind, name, table, sql in rows}


def _words(definition: str) -> tuple[str, ...]:
    return tuple(_plain(token) for token in _TOKEN.findall(definition))


def _plain(token: str) -> str:
    if token[0] == "'":
        return token
    return (token[1:-1] if token[0] in '"`[' and len(token) > 1 else token).casefold()


def _how(found: object, wanted: object) -> str:
    if wanted is None:
        return "added"
    return "missing" if found is None else "changed"
