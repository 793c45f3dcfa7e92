"""Several processes on one file, processes killed, processes forked, files that may not be written."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haversack.store.port import Batch
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory

_SCRIPT = Path(__file__).with_name("store_processes.py")


def _run(command: str, path: Path, *amount: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), command, str(path), *amount], capture_output=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.slow
def test_four_writers_and_four_readers_share_a_file(tmp_path: Path) -> None:
    seen = _run("contend", tmp_path / "store.db", "4")
    assert seen["errors"] == []
    assert (seen["lost"], seen["extra"], seen["positions_right"], seen["integrity"]) == (0, 0, True, "ok")
    assert seen["acknowledged"] > 4
    assert min(seen["reads"]) > 0
    assert seen["longest_wait"] < 30


@pytest.mark.slow
def test_a_writer_killed_fifty_times_loses_nothing_and_halves_nothing(tmp_path: Path) -> None:
    seen = _run("crash", tmp_path / "store.db", "50")
    assert (seen["lost"], seen["halves"], seen["integrity"]) == (0, 0, "ok")
    assert seen["acknowledged"] >= 50


def test_a_forked_child_and_its_parent_go_on_with_the_same_store(tmp_path: Path) -> None:
    seen = _run("fork", tmp_path / "store.db")
    assert seen == {"error": None, "rows": 202, "child_saw": True, "integrity": "ok"}


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder that another user can reach, for the tests' own temporary folders are closed to others."""
    with tempfile.TemporaryDirectory() as top:
        Path(top).chmod(0o755)
        folder = Path(top) / "locked"
        folder.mkdir()
        yield folder
        folder.chmod(0o755)


def test_a_file_and_folder_without_write_access_can_be_read_and_copied(locked_folder: Path) -> None:
    path = locked_folder / "store.db"
    store = SqliteStore(path)
    store.apply("n", Batch(memories=(sample_memory(1),)))
    store.close()
    path.chmod(0o444)
    locked_folder.chmod(0o555)
    assert _run("read-only", path) == {
        "read_only": True,
        "contents": ["statement 1"],
        "add": "ReadOnlyError",
        "scrub": "ReadOnlyError",
        "copied": 1,
        "snapshot_here": "StoreError",
        "new_store_here": "ReadOnlyError",
        "faults": ["exposed"],
        "files": ["store.db"],
    }


def test_a_store_that_was_read_while_it_was_read_only_can_be_written_again(locked_folder: Path) -> None:
    assert _run("writable-again", locked_folder / "store.db") == {"read": [True, 0], "add": None}


def test_a_reader_without_write_access_sees_what_a_running_writer_has_only_logged(locked_folder: Path) -> None:
    path = locked_folder / "store.db"
    writer = SqliteStore(path)
    writer.apply("n", Batch(memories=(sample_memory(1),)))
    for file in locked_folder.iterdir():
        file.chmod(0o444)
    locked_folder.chmod(0o555)
    assert _run("read-only", path)["contents"] == ["statement 1"]
    writer.close()
