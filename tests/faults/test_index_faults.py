"""A process that is killed while its index is built: nothing that was acknowledged is missing afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import haversack

MANY = 3_000
_PROGRAM = f"""
import sys, haversack
sack = haversack.open(sys.argv[1], embedder="none")
ns = sack.namespace("n")
for first in range(0, {MANY}, 500):
    told = (f"boat{{n}} lies at berth{{n % 100}}" for n in range(first, first + 500))
    ns.remember_many({{"content": text, "kind": "passage"}} for text in told)
print(ns.recall("berth7", top_k=99).behind, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_kill_while_the_index_is_built_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        process.kill()
    with haversack.open(str(path), embedder="none") as sack:
        ns = sack.namespace("n")
        ns.index()
        found = ns.recall("berth7", top_k=99)
        assert (len(found), found.behind) == (MANY // 100, 0)
        assert len(ns.recall(f"boat{MANY - 1}")) == 1


def test_a_process_that_never_closes_its_store_ends_while_its_index_is_built(tmp_path: Path) -> None:
    program = _PROGRAM.replace("sys.stdin.read()", "")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "memory.db")], capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
