"""Reported faults of memory stores, each as the behaviour that is right, on the SQLite store."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from haversack.errors import BusyError, InputError, NewerStoreError, NoSpaceError
from haversack.model.text import clean
from haversack.store.port import Batch
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory

_PROCESSES = Path(__file__).parents[1] / "faults" / "store_processes.py"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def _add(store: SqliteStore, number: int, content: str | None = None) -> int:
    return store.apply("n", Batch(memories=(sample_memory(number, content),))).sequence


def test_sto_01_a_write_waits_while_another_process_holds_the_store(path: Path) -> None:
    store = SqliteStore(path)
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(1.5, holder.execute, ["COMMIT"])
    release.start()
    assert _add(store, 1) == 1
    release.join()
    holder.close()
    store.close()


def test_sto_01_four_processes_add_fifty_each_while_others_read_and_rewrite(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(_PROCESSES), "count", str(path)], capture_output=True, check=True, timeout=100
    )
    seen = json.loads(done.stdout)
    assert (seen["rows"], seen["unique_ids"], seen["errors"]) == (200, 200, [])
    assert seen["longest_wait"] < 30


def test_sto_01_who_gives_up_is_told_that_nothing_was_saved(path: Path) -> None:
    store = SqliteStore(path, busy_timeout=0.01)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="nothing was saved"):
        _add(store, 1)
    holder.close()
    assert store.changes("n").memories == ()
    store.close()


def test_sto_03_an_empty_file_is_an_empty_store(path: Path) -> None:
    path.touch()
    store = SqliteStore(path)
    assert store.namespaces() == []
    store.close()


def test_sto_05_a_newer_store_is_left_as_it_is(path: Path) -> None:
    store = SqliteStore(path)
    for number in range(10):
        _add(store, number)
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1000")
    connection.close()
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(NewerStoreError, match="schema 1000"):
        SqliteStore(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


TEXTS = ["note \ud83d end", "\udb8d", "ok \U0001f600 pair", "left\0right tail", "the six characters \\u0000 typed"]


def test_sto_06_cleaned_text_comes_back_as_it_was_stored(path: Path) -> None:
    store = SqliteStore(path)
    memories = tuple(sample_memory(number, clean(text)) for number, text in enumerate(TEXTS))
    store.apply("n", Batch(memories=memories))
    store.close()
    store = SqliteStore(path)
    assert [memory.content for memory in store.changes("n").memories] == [
        "note \ufffd end",
        "\ufffd",
        "ok \U0001f600 pair",
        "left\0right tail",
        "the six characters \\u0000 typed",
    ]
    store.close()


@pytest.mark.parametrize("text", TEXTS)
def test_sto_06_any_text_may_be_a_namespace_a_tag_or_metadata(path: Path, text: str) -> None:
    word = clean(text)
    store = SqliteStore(path)
    memory = replace(sample_memory(1), tags=(word,), metadata={word: word})
    store.apply(word, Batch(memories=(memory,)))
    (back,) = store.changes(word).memories
    assert (back.tags, back.metadata) == ((word,), {word: word})
    assert store.namespaces() == [word]
    store.close()


@pytest.mark.parametrize("text", TEXTS[:2])
def test_sto_06_what_was_not_cleaned_is_refused_and_the_rest_is_not_half_stored(path: Path, text: str) -> None:
    store = SqliteStore(path)
    with pytest.raises(InputError, match="lone surrogate"):
        store.apply("n", Batch(memories=(sample_memory(1), sample_memory(2, text))))
    assert store.sequence("n") == 0
    store.close()


def _add_ten(store: SqliteStore) -> None:
    for number in range(10):
        _add(store, number, "x" * 4_000)


def test_sto_08_a_full_store_says_so_and_goes_on_when_there_is_room(path: Path) -> None:
    store = SqliteStore(path)
    with store._connections.lease() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(NoSpaceError, match="what was stored before is intact"):
        _add_ten(store)
    kept = len(store.changes("n").memories)
    assert 0 < kept < 4
    assert all(memory.content == "x" * 4_000 for memory in store.changes("n").memories)
    with store._connections.lease() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("PRAGMA max_page_count = 100000")
    assert _add(store, 99) == kept + 1
    store.close()
