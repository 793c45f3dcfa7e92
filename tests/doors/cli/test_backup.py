from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run


@pytest.fixture
def stored(run: Run) -> str:
    return run("remember", "Alice prefers metric units", "--json").data[0]["id"]


def test_a_namespace_goes_out_and_comes_back(run: Run, stored: str, tmp_path: Path) -> None:
    file = tmp_path / "default.backup"
    told = run("backup", str(file), "--json").data
    assert told == {"file": str(file), "lines": len(file.read_bytes().splitlines())}
    assert file.stat().st_mode & 0o777 == 0o600
    assert run("restore", str(file)).code == 0
    refused = run("restore", str(file), "--execute")
    assert refused.code == 4
    assert "exists already" in refused.err
    moved = run("restore", str(file), "--only", "copy", "--execute", "--json").data
    assert (moved["namespace"], moved["memories"]) == (
        "copy",
        run("stats", "--json").data["namespaces"]["default"]["memories"]["fact"],
    )
    other = run("restore", str(file), "--execute", "--store", str(tmp_path / "other.db"))
    assert other.code == 0
    assert stored in run("backup", "-", "--store", str(tmp_path / "other.db")).out


def test_a_broken_backup_is_refused(run: Run, stored: str, tmp_path: Path) -> None:
    file = tmp_path / "default.backup"
    run("backup", str(file))
    file.write_bytes(b"\n".join(file.read_bytes().splitlines()[:-1]))
    answer = run("restore", str(file), "--only", "copy", "--execute")
    assert answer.code == 2
    assert "cut short" in answer.err
    assert list(run("stats", "--json").data["namespaces"]) == ["default"]
    assert run("backup", str(file), "--namespace", "nobody").code == 3
