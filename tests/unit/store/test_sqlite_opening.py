"""What may stand at a path when a store is opened there, and what must not be touched."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from dataclasses import fields
from pathlib import Path

import pytest

from haversack.errors import NewerStoreError, NotAStoreError, ReadOnlyError, StoreError
from haversack.model.memory import Memory, Turn
from haversack.store.port import Batch
from haversack.store.sqlite.migrate import shipped
from haversack.store.sqlite.rows import MEMORY_COLUMNS, TURN_COLUMNS
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory


def _make(path: Path, count: int = 1) -> None:
    store = SqliteStore(path)
    store.apply("n", Batch(memories=tuple(sample_memory(number) for number in range(count))))
    store.close()


def _state(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.is_file()}


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_new_file_is_marked_as_ours(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _make(path)
    head = path.read_bytes()[:100]
    assert head[68:72] == b"HVSC"
    assert int.from_bytes(head[60:64], "big") == shipped()[-1].number
    assert head[18:20] == b"\x02\x02"  # write-ahead log
    assert _names(tmp_path) == ["store.db"]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    store = SqliteStore(path)
    assert store.namespaces() == []
    assert store.apply("n", Batch(memories=(sample_memory(1),))).sequence == 1
    store.close()


def test_a_database_that_was_left_without_tables_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")  # as far as a creation gets that is killed at once
    connection.close()
    assert path.stat().st_size > 0
    _make(path)


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _make(path)
    before = _state(tmp_path)
    for _ in range(2):
        SqliteStore(path).close()
        assert _state(tmp_path) == before
    SqliteStore(str(path), read_only=True).close()
    assert _state(tmp_path)["store.db"] == before["store.db"]


@pytest.mark.parametrize(
    "content", [b"x", b"not a store\n" * 99, b"\0" * 5000, b"SQLite format 3\0", b"PK\x03\x04" + b"z" * 200]
)
def test_garbage_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(NotAStoreError):
            SqliteStore(path, read_only=read_only)
    assert path.read_bytes() == content
    assert _names(tmp_path) == ["store.db"]


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
@pytest.mark.parametrize("application", [0, 7])
def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path, journal: str, application: int) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute(f"PRAGMA application_id = {application}")
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = _state(tmp_path)
    with pytest.raises(NotAStoreError, match="another program"):
        SqliteStore(path)
    assert _state(tmp_path) == before


def test_a_folder_and_a_path_without_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotAStoreError):
        SqliteStore(tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        SqliteStore(tmp_path / "none" / "store.db")


def test_a_damaged_store_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _make(path)
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xa5" * (len(data) - 100))
    with pytest.raises(NotAStoreError, match="damaged"):
        SqliteStore(path)


@pytest.mark.parametrize(
    "place",
    [b"CREATE |TABLE memories", b"CREATE TABLE| memories", b"table|memoriesmemories", b"tablememories|memories"],
)
def test_a_schema_that_is_not_utf8_is_named_as_damage(tmp_path: Path, place: bytes) -> None:
    path = tmp_path / "store.db"
    _make(path)
    data = bytearray(path.read_bytes())
    before, after = place.split(b"|")
    data[data.index(before + after) + len(before)] = 0xFF
    path.write_bytes(data)
    for read_only in (False, True):
        with pytest.raises(NotAStoreError, match="damaged"):
            SqliteStore(path, read_only=read_only)
    faults = {fault.code: fault.what for fault in SqliteSite(path).examine()}
    assert "damaged" in faults["unreadable"]


def test_a_schema_that_is_damaged_while_it_is_open_is_named_as_such(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    with pytest.raises(NotAStoreError, match=r"damaged .*near"), store._connections.lease():
        b'malformed database schema (x) - near "\xff"'.decode()
    assert store.sequence("n") == 0
    store.close()


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    _make(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = _state(tmp_path)
    for read_only in (False, True):
        with pytest.raises(NewerStoreError, match="upgrade Haversack"):
            SqliteStore(path, read_only=read_only)
    assert _state(tmp_path) == before
    assert list(before) == ["store.db"]


def test_a_newer_version_that_stands_only_in_the_log_is_seen(tmp_path: Path) -> None:
    path, later = tmp_path / "store.db", tmp_path / "later"
    _make(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    later.mkdir()
    for file in ("store.db", "store.db-wal"):
        shutil.copy(tmp_path / file, later / file)
    connection.close()
    with pytest.raises(NewerStoreError):
        SqliteStore(later / "store.db")


def test_read_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(ReadOnlyError):
        SqliteStore(path, read_only=True)
    assert _names(tmp_path) == []
    writer = SqliteStore(path)
    writer.apply("n", Batch(memories=(sample_memory(1),)))
    reader = SqliteStore(path, read_only=True)
    assert len(reader.changes("n").memories) == 1
    with pytest.raises(ReadOnlyError):
        reader.apply("n", Batch(memories=(sample_memory(2),)))
    writer.apply("n", Batch(memories=(sample_memory(2),)))
    assert reader.sequence("n") == 2
    reader.close()
    writer.close()


def test_a_snapshot_opens_as_a_store_with_all_that_was_there(tmp_path: Path) -> None:
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    _make(path, 20)
    store = SqliteStore(path)
    store.snapshot(copy)
    assert copy.exists()
    store.apply("n", Batch(memories=(sample_memory(99),)))
    with pytest.raises(StoreError, match="exists already"):
        store.snapshot(copy)
    with pytest.raises(StoreError):
        store.snapshot(tmp_path / "none" / "copy.db")
    reader = SqliteStore(copy, read_only=True)
    assert reader.sequence("n") == 20
    reader.close()
    copied = SqliteStore(copy)
    assert copied.changes("n").memories == store.changes("n").memories[:20]
    assert copied.apply("n", Batch(memories=(sample_memory(98),))).sequence == 21
    copied.close()
    store.close()
    assert _names(tmp_path) == ["copy.db", "store.db"]


def test_every_field_of_the_model_has_its_column() -> None:
    assert set(MEMORY_COLUMNS.split(", ")) == {field.name for field in fields(Memory)}
    assert set(TURN_COLUMNS.split(", ")) == {field.name for field in fields(Turn)}


def test_every_statement_that_serves_a_namespace_uses_an_index(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    asked: list[str] = []
    with store._connections.lease() as connection:
        connection.set_trace_callback(asked.append)
    store.memories("n", ["a"])
    store.changes("n")
    store.sequence("n")
    store.turns("n", "s")
    store.turns("n", "s", limit=1, newest=True)
    store.turns_by_id("n", ["a"])
    store.sessions("n")
    store.said("n", ["a"])
    store.tombstoned("n", ["a"])
    store.prices("n", "e", ["a"])
    store.vectors("n", "m", ["a"])
    store.record("n", "c", "k")
    store.records("n", "c", prefix="a")
    store.census("n")
    with store._connections.lease() as connection:
        connection.set_trace_callback(None)
        for statement in asked:
            if statement.startswith("SELECT"):
                plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
                assert all(not step.startswith("SCAN") for step in plan), (statement, plan)
                assert any("namespace=?" in step for step in plan), (statement, plan)
    assert sum(statement.startswith("SELECT") for statement in asked) > 14
    store.close()
