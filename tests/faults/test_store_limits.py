"""A full disk, a held lock, a closed store, text that cannot be stored."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from haversack.errors import BusyError, InputError, NoSpaceError, NotAStoreError, StoreError
from haversack.store.port import Batch, Erasure, Graves
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def _limit_pages(store: SqliteStore, spare: int | None) -> None:
    with store._connections.lease() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        limit = 2**30 if spare is None else pages + spare
        connection.execute(f"PRAGMA max_page_count = {limit}")


def _intact(path: Path) -> bool:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        connection.close()


def _fill_up(store: SqliteStore, start: int = 0) -> int:
    """How many memories of 4,000 characters went in before there was no space."""
    for number in range(start, start + 10_000):
        try:
            store.apply("n", Batch(memories=(sample_memory(number, "x" * 4_000),)))
        except NoSpaceError:
            return number - start
    raise AssertionError("there was always space")


def test_a_store_that_reached_its_limit_keeps_all_it_had_and_goes_on_when_there_is_room(
    path: Path, store: SqliteStore
) -> None:
    _limit_pages(store, 2)
    kept = _fill_up(store)
    assert kept < 4
    assert [memory.id for memory in store.changes("n").memories] == [sample_memory(each).id for each in range(kept)]
    assert store.sequence("n") == kept
    assert _intact(path)
    _limit_pages(store, None)
    assert store.apply("n", Batch(memories=(sample_memory(kept, "y" * 4_000),))).sequence == kept + 1


def test_a_batch_that_does_not_fit_leaves_no_part_of_itself(store: SqliteStore) -> None:
    _limit_pages(store, 4)
    batch = Batch(memories=tuple(sample_memory(number, "x" * 4_000) for number in range(20)))
    with pytest.raises(NoSpaceError, match="nothing was saved"):
        store.apply("n", batch)
    assert store.changes("n").memories == ()
    assert store.namespaces() == []


def test_an_erasure_on_a_full_disk_is_finished_when_there_is_room(path: Path, store: SqliteStore) -> None:
    words = "swordfish-0123456789"
    store.apply("n", Batch(memories=(sample_memory(1, words), sample_memory(2))))
    with store._connections.lease() as connection:
        connection.execute("PRAGMA temp_store = MEMORY")
        # What VACUUM meets when its copy does not fit.
        connection.set_authorizer(_deny_copies)
    applied = store.apply("n", Batch(erase=Erasure(memories=(sample_memory(1).id,))))
    assert applied.erased_memories == (sample_memory(1).id,)
    assert not store.scrub()
    with store._connections.lease() as connection:
        connection.set_authorizer(None)
    assert store.scrub()
    assert all(words.encode() not in file.read_bytes() for file in path.parent.iterdir())


def _deny_copies(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("no right to mount a small disk; the page limit above covers the same error")
    try:
        ballast = disk / "ballast"
        ballast.write_bytes(b"\0" * 200_000)
        store = SqliteStore(disk / "store.db")
        kept = _fill_up(store)
        assert kept > 10
        assert len(store.changes("n").memories) == kept
        assert _intact(disk / "store.db")
        ballast.unlink()
        assert store.apply("n", Batch(memories=(sample_memory(kept, "y" * 4_000),))).sequence == kept + 1
        store.close()
        again = SqliteStore(disk / "store.db")
        assert len(again.changes("n").memories) == kept + 1
        again.close()
    finally:
        subprocess.run(["/bin/umount", disk], check=True)


def _hold(path: Path) -> sqlite3.Connection:
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    return holder


def test_a_write_waits_for_a_lock_that_is_held_for_a_second_and_a_half(path: Path, store: SqliteStore) -> None:
    holder = _hold(path)
    release = threading.Timer(1.5, holder.execute, ["ROLLBACK"])
    release.start()
    assert store.apply("n", Batch(memories=(sample_memory(1),))).sequence == 1
    release.join()
    holder.close()


def test_a_write_that_gives_up_says_busy_and_saves_nothing(path: Path, store: SqliteStore) -> None:
    impatient = SqliteStore(path, busy_timeout=0.05)
    holder = _hold(path)
    with pytest.raises(BusyError, match="nothing was saved"):
        impatient.apply("n", Batch(memories=(sample_memory(1),)))
    assert impatient.sequence("n") == 0
    holder.execute("ROLLBACK")
    holder.close()
    assert impatient.apply("n", Batch(memories=(sample_memory(1),))).sequence == 1
    impatient.close()


def test_a_lone_surrogate_is_refused_whole(store: SqliteStore) -> None:
    with pytest.raises(InputError, match="surrogate"):
        store.apply("n", Batch(memories=(sample_memory(1), sample_memory(2, "cut \ud83d here"))))
    with pytest.raises(InputError, match="surrogate"):
        store.apply("n", Batch(memories=(replace(sample_memory(1), metadata={"a": "\ud83d"}),)))
    assert store.changes("n").memories == ()


def test_closing_on_one_thread_stops_another_with_a_typed_error(store: SqliteStore) -> None:
    began, failures = threading.Event(), list[Exception]()

    def read() -> None:
        try:
            while True:
                store.sequence("n")
                began.set()
        except Exception as failure:  # noqa: BLE001 - handed to the test's own thread
            failures.append(failure)

    reader = threading.Thread(target=read)
    reader.start()
    began.wait(10)
    store.close()
    reader.join(10)
    assert [type(failure) for failure in failures] == [StoreError]


def test_an_emptied_file_takes_nothing_more(path: Path, store: SqliteStore) -> None:
    store.apply("n", Batch(memories=(sample_memory(1),)))
    os.truncate(path, 0)
    with pytest.raises(StoreError, match="removed, replaced or emptied"):
        store.apply("n", Batch(memories=(sample_memory(2),)))


def test_a_store_whose_log_was_taken_away_takes_nothing_more_and_keeps_what_it_has(
    path: Path, store: SqliteStore
) -> None:
    store.apply("n", Batch(memories=(sample_memory(1),)))
    path.with_name("store.db-wal").unlink()
    with pytest.raises(StoreError, match=r"store\.db-wal was removed or replaced while it was in use"):
        store.apply("n", Batch(memories=(sample_memory(2),)))
    store.close()
    again = SqliteStore(path)
    assert [memory.id for memory in again.changes("n").memories] == [sample_memory(1).id]
    again.apply("n", Batch(memories=(sample_memory(2),)))
    again.close()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_whose_file_was_taken_away_says_so_instead_of_losing_what_it_acknowledges(
    path: Path, store: SqliteStore, *, replaced: bool
) -> None:
    store.apply("n", Batch(memories=(sample_memory(1),)))
    if replaced:
        store.snapshot(path.with_name("copy.db"))
        path.with_name("copy.db").replace(path)
    else:
        path.unlink()
    with pytest.raises(StoreError, match="removed, replaced or emptied while it was open; nothing was saved"):
        store.apply("n", Batch(memories=(sample_memory(2),)))
    with pytest.raises(StoreError, match="removed, replaced"):
        store.bury("n", Graves())
    store.close()
    for left in path.parent.glob("store.db-*"):
        left.unlink()
    again = SqliteStore(path)
    assert [memory.id for memory in again.changes("n").memories] == [sample_memory(1).id] * replaced
    again.apply("n", Batch(memories=(sample_memory(2),)))
    again.close()


@pytest.mark.parametrize("place", ["/dev/null", "pipe"])
def test_what_can_hold_no_store_is_refused_at_once(tmp_path: Path, place: str) -> None:
    if place == "pipe":
        os.mkfifo(tmp_path / place)
    with pytest.raises(NotAStoreError, match="no file that could hold a store"):
        SqliteStore(tmp_path / place)
