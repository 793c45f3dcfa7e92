"""Maintenance under fault, in small; `python tests/faults/maintenance_processes.py table 200` is the same in large."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).with_name("maintenance_processes.py")


def _run(fault: str, rounds: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(_SCRIPT), fault, str(rounds)], capture_output=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def _unharmed(seen: dict[str, Any]) -> bool:
    return (seen["lost"], seen["unusable"]) == (0, 0)


@pytest.mark.parametrize("verb", ["lifecycle", "restore"])
def test_a_verb_killed_at_a_random_moment_leaves_a_sound_store_and_can_be_finished(verb: str) -> None:
    seen = _run(f"kill {verb}", 3)
    assert seen["rounds"] == 3
    assert _unharmed(seen), seen


def test_every_writing_verb_killed_at_random_moments_keeps_what_it_acknowledged() -> None:
    seen = _run("kill writer", 5)
    assert _unharmed(seen), seen


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["reorganize", "undo", "snapshot", "copy", "reset", "rewrite"])
def test_other_verbs_killed_at_random_moments(verb: str) -> None:
    seen = _run(f"kill {verb}", 6)
    assert _unharmed(seen), seen


@pytest.mark.slow
def test_every_verb_on_a_full_disk(tmp_path: Path) -> None:
    seen = _run("full disk", 8)
    if "no right to mount a small disk" in seen["notes"]:
        pytest.skip("no right to mount a small disk")
    assert _unharmed(seen), seen


def test_a_store_that_may_only_be_read_refuses_and_can_be_copied() -> None:
    seen = _run("read-only", 1)
    assert seen["notes"] == {"ReadOnlyError": 3, "worked": 2}


@pytest.mark.slow
def test_a_disk_that_turns_read_only_in_the_middle_of_a_verb() -> None:
    seen = _run("read-only disk", 8)
    if "no right to mount a disk" in seen["notes"]:
        pytest.skip("no right to mount a disk")
    assert _unharmed(seen), seen


def test_a_torn_page_is_told_by_the_doctor_and_mended_by_a_restore() -> None:
    seen = _run("torn page", 6)
    # A page of the kept index is harmless: it fails its checksum, and the index is built again.
    assert set(seen["notes"]) <= {"told by doctor", "harmless"}
    assert seen["notes"]["told by doctor"] > 0
    assert _unharmed(seen), seen


def test_turned_bits_are_met_with_typed_errors_and_a_restore() -> None:
    seen = _run("bit flip", 12)
    assert _unharmed(seen), seen


def test_a_deleted_log_is_noticed_by_its_snapshot() -> None:
    seen = _run("deleted log", 2)
    assert sum(seen["notes"].values()) == 2
    assert _unharmed(seen), seen


def test_a_snapshot_with_a_changed_byte_is_refused_and_the_store_not_touched() -> None:
    seen = _run("changed snapshot", 12)
    assert seen["struck"] == 12
    assert _unharmed(seen), seen


def test_a_clock_that_jumps_ahead_and_back_loses_nothing() -> None:
    seen = _run("clock jump", 1)
    assert seen["struck"] == 1
    assert _unharmed(seen), seen


@pytest.mark.slow
def test_verbs_without_file_handles_fail_by_name_or_work() -> None:
    seen = _run("no handles", 12)
    assert _unharmed(seen), seen


def test_a_fork_in_the_middle_of_a_verb() -> None:
    seen = _run("fork", 2)
    assert seen["struck"] == 2
    assert _unharmed(seen), seen


@pytest.mark.slow
def test_verbs_with_too_little_memory_fail_by_name_or_work() -> None:
    seen = _run("low memory", 12)
    assert _unharmed(seen), seen


def test_a_run_of_another_machine_is_waited_for_by_name_and_finished_when_its_lease_ends() -> None:
    seen = _run("two hosts", 4)
    assert set(seen["notes"]) <= {"refused by name"}
    assert _unharmed(seen), seen


def test_an_older_program_writes_nothing_into_a_store_that_a_newer_one_migrated_under_it() -> None:
    seen = _run("two versions", 1)
    assert seen["notes"] == {"went on": 1}  # a preview, which reads nothing that changed
    assert seen["struck"] == 4
    assert _unharmed(seen), seen
