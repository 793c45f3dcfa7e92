"""Whole engines on one file: contention, and kills in the middle of writing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).with_name("engine_processes.py")


def run(command: str, path: Path, amount: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), command, str(path), str(amount)], capture_output=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.slow
def test_writers_and_readers_share_a_file_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    seen = run("contend", tmp_path / "store.db", 25)
    assert seen == {"acknowledged": 100, "lost": 0, "answers": [125] * 4}


@pytest.mark.slow
def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_no_turn_without_its_passage(tmp_path: Path) -> None:
    seen = run("crash", tmp_path / "store.db", 8)
    assert (seen["lost"], seen["halves"]) == (0, 0)
    assert seen["acknowledged"] >= 8
