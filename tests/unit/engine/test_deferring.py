"""Deferred writes: soon, one after another, and none lost at the end."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest

import haversack
from haversack.engine.deferring import DeferredWrites


def test_writes_run_one_after_another_on_a_thread_of_their_own() -> None:
    writes, done = DeferredWrites(), list[tuple[str, Thread]]()
    for name in ("a", "b", "c"):
        writes.soon(name, lambda name=name: done.append((name, current_thread())))
    writes.wait()
    assert [name for name, _ in done] == ["a", "b", "c"]
    assert len({thread for _, thread in done} - {current_thread()}) == 1
    writes.close()


def test_of_those_that_wait_under_one_name_one_is_run() -> None:
    writes, go, done = DeferredWrites(), Event(), list[int]()
    writes.soon("first", lambda: go.wait(30))
    for number in range(5):
        writes.soon("n", lambda number=number: done.append(number))
    go.set()
    writes.wait()
    assert done == [0]
    writes.soon("n", lambda: done.append(9))
    writes.close()
    assert done == [0, 9]


def test_closing_ends_it_and_nothing_is_taken_afterwards() -> None:
    writes, done = DeferredWrites(), list[int]()
    writes.close()
    writes.soon("n", lambda: done.append(1))
    writes.wait()
    writes.close()
    assert done == []


def test_a_failure_is_told_and_the_next_write_runs(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("no room")

    writes, done = DeferredWrites(), list[int]()
    with caplog.at_level(logging.WARNING):
        writes.soon("n", fail)
        writes.soon("m", lambda: done.append(1))
        writes.close()
    assert done == [1]
    assert [record.getMessage() for record in caplog.records] == ["bookkeeping of 'n' failed: ValueError: no room"]


def test_another_process_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    writes, go, done = DeferredWrites(), Event(), list[int]()
    writes.soon("n", lambda: go.wait(30))
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as a forked child sees it: the thread has stayed behind
    writes.soon("n", lambda: done.append(1))
    writes.wait()
    assert done == [1]
    go.set()
    writes.close()


def test_at_the_end_of_the_interpreter_nothing_fails_and_all_is_written(tmp_path: Path) -> None:
    program = f"""
import atexit, haversack
sack = haversack.open({str(tmp_path / "memory.db")!r}, embedder="none")
ns = sack.namespace("n")
kept = [ns.remember(f"the tide turns at {{n}}", kind="passage") for n in range(600)]

def end():
    for first in range(0, 600, 300):
        sack._core.access.note(sack._core, "n", [one.id for one in kept[first:first + 300]], sack._core.clock())
    sack._core.access.wait()
    sack.close()

atexit.register(end)
sack._core.access.note(sack._core, "n", [kept[0].id] , sack._core.clock())
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    with haversack.open(tmp_path / "memory.db", embedder="none") as sack:
        assert sack.namespace("n").maintenance.flush() == 601
