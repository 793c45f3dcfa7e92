"""Stores and snapshots whose schema holds more than Haversack made."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import haversack
from haversack.errors import NotAStoreError
from haversack.store.port import Batch
from haversack.store.sqlite.migrate import shipped
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory

_SHADOW = "CREATE TABLE shadow (words TEXT)"
_COPYING = "CREATE TRIGGER copying AFTER DELETE ON memories BEGIN UPDATE memories SET content = old.content; END"
_CHANGING = "CREATE TRIGGER changing AFTER INSERT ON memories BEGIN UPDATE memories SET content = 'x'; END"
FOREIGN = {
    "table": (_SHADOW, "shadow"),
    "trigger": (_COPYING, "copying"),
    "view": ("CREATE VIEW seen AS SELECT content FROM memories", "seen"),
    "index": ("CREATE INDEX extra ON memories (content)", "extra"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    store.apply("n", Batch(memories=(sample_memory(1), sample_memory(2))))
    store.close()
    return path


def altered(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_haversack_did_not_make_is_refused_and_named(path: Path, kind: str) -> None:
    statement, name = FOREIGN[kind]
    altered(path, statement)
    with pytest.raises(NotAStoreError, match=f"the {kind} '{name}', which Haversack did not make"):
        SqliteStore(path)
    (fault,) = [fault for fault in SqliteSite(path).examine() if fault.code == "foreign"]
    assert fault.severe
    assert fault.mends is (kind != "table")
    assert name in fault.what


def test_a_changed_definition_is_refused(path: Path) -> None:
    altered(path, "DROP INDEX memories_by_change", "CREATE INDEX memories_by_change ON memories (content)")
    with pytest.raises(NotAStoreError, match="memories_by_change"):
        SqliteStore(path)
    altered(path, "ALTER TABLE prices ADD COLUMN note TEXT")
    with pytest.raises(NotAStoreError):
        SqliteStore(path)


def test_doctor_removes_what_reacts_and_makes_its_own_again(path: Path) -> None:
    altered(path, _CHANGING, 'CREATE VIEW "a""b" AS SELECT 1', "DROP INDEX memories_by_change")
    altered(path, "CREATE INDEX memories_by_change ON memories (content)")
    done = SqliteSite(path).mend()
    assert sum("did not make" in line for line in done) == 3
    store = SqliteStore(path)
    assert [memory.content for memory in store.memories("n", [sample_memory(1).id])] == ["statement 1"]
    store.close()
    assert [fault for fault in SqliteSite(path).examine() if fault.severe] == []


def test_the_tables_of_a_replication_are_let_be(path: Path) -> None:
    altered(path, "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)", "ANALYZE")
    SqliteStore(path).close()


def test_an_old_store_is_looked_at_before_it_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    SqliteStore(path, migrations=shipped()[:1]).close()
    altered(path, _CHANGING)
    with pytest.raises(NotAStoreError, match="changing"):
        SqliteStore(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


def test_a_store_of_every_earlier_schema_opens(tmp_path: Path) -> None:
    for count in range(1, len(shipped()) + 1):
        path = tmp_path / f"{count}.db"
        SqliteStore(path, migrations=shipped()[:count]).close()
        SqliteStore(path).close()


def test_a_snapshot_with_a_trigger_is_not_restored(path: Path, tmp_path: Path) -> None:
    with haversack.open(str(path)) as sack:
        altered(path, _CHANGING)
        with pytest.raises(NotAStoreError, match="changing"):
            sack.maintenance.snapshot(tmp_path / "s.snapshot")
    assert not list(tmp_path.glob("*.partial*"))


def test_what_is_written_is_durable_and_a_foreign_schema_is_not_trusted(path: Path) -> None:
    store = SqliteStore(path)
    with store._write_lease() as connection:
        pragmas = ("synchronous", "secure_delete", "trusted_schema", "cell_size_check", "journal_mode")
        told = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas}
    store.close()
    assert told == {
        "synchronous": 2,
        "secure_delete": 1,
        "trusted_schema": 0,
        "cell_size_check": 1,
        "journal_mode": "wal",
    }
