"""Whatever holds somebody's words can be read by its owner alone, from its first byte and whatever the umask says."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

import haversack
from haversack.chat.files import write_new
from haversack.cli.app import main
from haversack.engine.haversack import Haversack
from haversack.maintenance.restore import confirm, restore_beside, restore_over, roll_back
from haversack.private import copy_file, create
from haversack.store.sqlite.cipher import Cipher
from haversack.store.sqlite.migrate import shipped
from haversack.store.sqlite.rekey import rekey
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore

NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.fixture(params=[0o022, 0o000], ids=["umask-022", "umask-000"], autouse=True)
def generous(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@contextmanager
def watched(folder: Path) -> Generator[set[tuple[str, str]]]:
    """Name and mode of every file that is open to others at any moment that we catch; looked at without a pause."""
    caught: set[tuple[str, str]] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            caught.update(wide(folder))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield caught
    finally:
        done.set()
        watcher.join()
        caught.update(wide(folder))


def wide(folder: Path) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for name, _, files in os.walk(folder):
        for each in files:
            try:
                mode = stat.S_IMODE((Path(name) / each).stat().st_mode)
            except FileNotFoundError:
                continue
            if mode & 0o077:
                found.add((each, oct(mode)))
    return found


def open_store(path: Path, key: str | None = None) -> Haversack:
    return haversack.open(path, embedder="none", key=key)


def fill(path: Path, key: str | None = None) -> None:
    with open_store(path, key) as sack:
        sack.namespace("n").remember("The boat lies in Bergen.")


@pytest.mark.parametrize("key", [None, "secret"], ids=["plain", "encrypted"])
def test_a_store_and_its_log_while_it_is_open_and_its_snapshots(path: Path, tmp_path: Path, key: str | None) -> None:
    with watched(tmp_path) as caught, open_store(path, key) as sack:
        sack.namespace("n").remember("The boat lies in Bergen.")
        assert {each.name for each in tmp_path.iterdir()} == {"store.db", "store.db-wal", "store.db-shm"}
        taken = sack.maintenance.snapshot()
        sack.maintenance.snapshot(tmp_path / "one.snapshot", namespace="n")
        sack.maintenance.verify_snapshot(taken.path)
        (row,) = sack.namespace("n").recall("boat")
        done = sack.namespace("n").forget(row.id, hard=True)
        assert sack.maintenance.forget_in_snapshots(done).rewritten
    assert caught == set()
    assert stat.S_IMODE(taken.path.parent.stat().st_mode) == 0o700


def test_a_link_to_a_place_without_a_file(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere.db")
    fill(path)
    assert wide(tmp_path) == set()


def test_what_a_migration_and_a_restore_keep(path: Path, tmp_path: Path) -> None:
    site = SqliteSite(path)
    with watched(tmp_path) as caught:
        SqliteStore(path, migrations=shipped()[:1]).close()
        fill(path)
        assert (tmp_path / "store.db.before-v2").exists()
        with open_store(path) as sack:
            snapshot = sack.maintenance.snapshot().path
        restore_beside(site, snapshot, tmp_path / "beside.db")
        restore_over(site, snapshot, NOW)
        roll_back(site, NOW)
        restore_over(site, snapshot, NOW)
        confirm(site)
        site.salvage(tmp_path / "saved.db")
    assert caught == set()


def test_a_change_of_key(path: Path, tmp_path: Path) -> None:
    with watched(tmp_path) as caught:
        fill(path)
        rekey(path, None, Cipher("one"))
        rekey(path, Cipher("one"), None)
    assert caught == set()


def test_what_commands_write(path: Path, tmp_path: Path) -> None:
    fill(path)
    store = ["--store", str(path), "--namespace", "n"]
    with watched(tmp_path) as caught:
        for command in (
            ["export", str(tmp_path / "out.jsonl"), *store],
            ["context", "boat", "--chart", str(tmp_path / "ledger.svg"), *store],
            ["snapshot", "--execute", *store[:2]],
        ):
            with pytest.raises(SystemExit) as left:
                main(command)
            assert left.value.code in {0, None}
        assert write_new(str(tmp_path / "said.jsonl"), [b"x"]) == 1
    assert {"out.jsonl", "ledger.svg", "said.jsonl"} <= {each.name for each in tmp_path.iterdir()}
    assert caught == set()


def test_the_doctor_names_what_others_may_read_and_the_command_that_mends_it(path: Path, tmp_path: Path) -> None:
    with open_store(path) as sack:
        sack.namespace("n").remember("The boat lies in Bergen.")
        taken = sack.maintenance.snapshot().path
        assert sack.maintenance.health().faults == ()
        for each in (path, tmp_path / "store.db-wal", taken):
            each.chmod(0o644)
        found = [fault for fault in sack.maintenance.health().faults if fault.code == "exposed"]
        assert [fault.severe for fault in found] == [False, False]
        assert found[0].helps == f"chmod go-rwx {path} {path}-wal"
        assert found[1].helps == f"chmod go-rwx {taken}"
        for fault in found:
            assert subprocess.run(shlex.split(fault.helps), check=False).returncode == 0
        assert sack.maintenance.health().faults == ()


def test_a_copy_that_fails_is_removed(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        copy_file(tmp_path, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    with create(tmp_path / "one") as file:
        file.write(b"x")
    copy_file(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "two").read_bytes() == b"x"
    assert wide(tmp_path) == set()


def test_no_file_is_made_in_any_other_way() -> None:
    """Where the sources make a file, they do it through `private`; the exceptions hold nobody's words."""
    makers = (".write_text(", ".write_bytes(", 'open("w', 'open("x', 'open("a', "mkstemp(", "copy2(", "copyfile(")
    found = {
        f"{file.parent.name}/{file.name}": maker
        for file in Path(haversack.__file__).parent.rglob("*.py")
        for maker in makers
        if maker in file.read_text(encoding="utf-8")
    }
    assert found == {
        "client/generate.py": ".write_text(",  # sources
        "commands/bench.py": ".write_bytes(",  # figures
        "cli/lines.py": "mkstemp(",  # 0600 by itself; `open("wb")` there is for pipes and devices
    }
