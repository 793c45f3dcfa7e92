"""Migrations that are interrupted anywhere: what was there is there, and the next opening finishes the work."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from haversack.store.port import Batch, Price
from haversack.store.sqlite import migrate
from haversack.store.sqlite.migrate import Migration, shipped
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory

_LAST = len(shipped())
_NEXT = (
    *shipped(),
    Migration(
        number=_LAST + 1,
        statements=(
            "ALTER TABLE memories ADD COLUMN mood TEXT",
            "UPDATE memories SET mood = 'calm' WHERE born <= 5",
            "UPDATE memories SET mood = 'calm' WHERE born > 5",
        ),
    ),
    Migration(
        number=_LAST + 2,
        statements=(
            "ALTER TABLE prices RENAME TO prices_aside",
            "CREATE TABLE prices (namespace, memory, encoding, tokens, note, UNIQUE (namespace, memory, encoding))",
            "INSERT INTO prices SELECT *, 'moved' FROM prices_aside",
            "DROP TABLE prices_aside",
        ),
    ),
)
_IDS = [sample_memory(number).id for number in range(10)]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old" / "store.db"
    path.parent.mkdir()
    store = SqliteStore(path)
    memories = tuple(sample_memory(number) for number in range(10))
    store.apply(
        "n", Batch(memories=memories, prices=tuple(Price(memory=m.id, encoding="e", tokens=3) for m in memories))
    )
    store.close()
    return path


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check(path: Path) -> None:
    """Ten rows and prices, moods and notes filled in, the version once, and a second opening that does nothing."""
    store = SqliteStore(path, migrations=_NEXT)
    assert [memory.id for memory in store.changes("n").memories] == _IDS
    assert store.prices("n", "e", _IDS) == dict.fromkeys(_IDS, 3)
    store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (_LAST + 2,)
    assert connection.execute("SELECT mood, count(*) FROM memories GROUP BY 1").fetchall() == [("calm", 10)]
    assert connection.execute("SELECT note, count(*) FROM prices GROUP BY 1").fetchall() == [("moved", 10)]
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    before = _hash(path)
    SqliteStore(path, migrations=_NEXT).close()
    assert _hash(path) == before


def _copies(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What a kill before each statement of the migrations would leave on the disk."""
    inspect = migrate._column_is_there
    made: list[Path] = []

    def copy_first(connection: sqlite3.Connection, statement: str) -> bool:
        made.append(Path(shutil.copytree(old.parent, tmp_path / f"killed-{len(made)}")) / old.name)
        return inspect(connection, statement)

    monkeypatch.setattr(migrate, "_column_is_there", copy_first)
    SqliteStore(old, migrations=_NEXT).close()
    monkeypatch.undo()
    yield from made


def test_a_migration_killed_before_any_statement_is_finished_by_the_next_opening(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = list(_copies(old, tmp_path, monkeypatch))
    assert len(killed) == 7
    for path in [*killed, old]:
        _check(path)


def test_a_statement_that_fails_leaves_the_old_version_usable(old: Path) -> None:
    broken = (*_NEXT, Migration(number=_LAST + 3, statements=("DROP TABLE vectors", "UPDATE nowhere SET x = 1")))
    with pytest.raises(Exception, match="nowhere"):
        SqliteStore(old, migrations=broken)
    _check(old)


def test_a_column_that_is_there_already_is_no_obstacle(old: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("ALTER TABLE memories ADD COLUMN mood TEXT")
    connection.close()
    _check(old)


def test_a_missing_version_number_is_set_again(old: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("PRAGMA user_version = 0")
    connection.close()
    _check(old)


def test_the_store_is_copied_aside_once_before_it_changes(old: Path) -> None:
    SqliteStore(old, migrations=_NEXT).close()
    assert sorted(file.name for file in old.parent.iterdir()) == ["store.db", f"store.db.before-v{_LAST + 1}"]
    kept = SqliteStore(old.with_name(f"store.db.before-v{_LAST + 1}"))
    assert [memory.id for memory in kept.changes("n").memories] == _IDS
    kept.close()


def test_a_new_store_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    SqliteStore(path, migrations=_NEXT).close()
    assert [file.name for file in tmp_path.iterdir()] == ["new.db"]


def test_shipped_migrations_are_numbered_without_gaps_and_can_be_repeated() -> None:
    assert [migration.number for migration in shipped()] == list(range(1, len(shipped()) + 1))
    connection = sqlite3.connect(":memory:")
    for migration in (*shipped(), *shipped()[:1]):
        for statement in migration.statements:
            connection.execute(statement)
    connection.close()


def test_tables_keep_what_a_distributed_store_asks() -> None:
    connection = sqlite3.connect(":memory:")
    for migration in shipped():
        for statement in migration.statements:
            connection.execute(statement)
    kinds = connection.execute("SELECT DISTINCT type FROM sqlite_schema").fetchall()
    assert {kind for (kind,) in kinds} == {"table", "index"}
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
        assert [name for _, name, _, _, _, place in columns if place == 1] == ["namespace"]
        for _, index, *_ in connection.execute(f"PRAGMA index_list({table})").fetchall():
            first = connection.execute(f"PRAGMA index_info({index})").fetchone()
            assert first[2] == "namespace"
    connection.close()
