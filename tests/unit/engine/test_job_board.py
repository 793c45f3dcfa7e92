"""Jobs of many callers: none stops the others, and the operator waits for nobody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import haversack
from haversack.engine.haversack import Haversack
from haversack.engine.jobs import JobState, Progress
from haversack.errors import BusyError


@pytest.fixture
def sack(tmp_path: Path) -> Iterator[Haversack]:
    with haversack.open(tmp_path / "memory.db") as opened:
        yield opened


class Gate:
    """Work that waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.go = Event(), Event()

    def __call__(self, progress: Progress) -> Mapping[str, Any]:
        self.begun.set()
        assert self.go.wait(20)
        progress(1)
        return {}


def test_one_caller_fills_its_own_share_alone(sack: Haversack):
    gate = Gate()
    first = sack.jobs.start("import", "a", gate, asked_by="greedy")
    assert gate.begun.wait(10)
    for number in range(16):
        sack.jobs.start("import", f"a{number}", gate, asked_by="greedy")
    with pytest.raises(BusyError, match="16 jobs of this key are waiting"):
        sack.jobs.start("import", "other", gate, asked_by="greedy")
    theirs = sack.jobs.start("reembed", "b", lambda _: {"done": 1}, asked_by="other")
    snapshot = sack.jobs.start("snapshot", "*", lambda _: {"done": 2}, asked_by="ops", upkeep=True)
    assert [sack.jobs.wait(job.id, 10).state for job in (theirs, snapshot)] == [JobState.DONE] * 2
    assert sack.jobs.get(first.id).state is JobState.RUNNING
    gate.go.set()


def test_the_operator_waits_for_nobody(sack: Haversack):
    gates = [Gate(), Gate()]
    for number, gate in enumerate(gates):
        sack.jobs.start("import", f"n{number}", gate, asked_by=f"key{number}")
    assert all(gate.begun.wait(10) for gate in gates)
    waits = sack.jobs.start("import", "n2", lambda _: {}, asked_by="key2")
    snapshot = sack.jobs.start("snapshot", "*", lambda _: {}, asked_by="ops", upkeep=True)
    assert sack.jobs.wait(snapshot.id, 10).state is JobState.DONE
    assert sack.jobs.get(waits.id).state is JobState.WAITING
    gates[0].go.set()
    assert sack.jobs.wait(waits.id, 10).state is JobState.DONE
    gates[1].go.set()


def test_a_failed_job_does_not_tell_where_the_store_lies(sack: Haversack, caplog: pytest.LogCaptureFixture):
    def work(_: Progress) -> Mapping[str, Any]:
        raise BusyError("/home/alice/memory.db is busy")

    job = sack.jobs.wait(sack.jobs.start("import", "a", work, asked_by="me").id, 10)
    assert (job.state, job.message) == (JobState.FAILED, "another writer holds the store for too long; try again")
    assert "/home/alice/memory.db is busy" in caplog.text


def test_what_never_begins_is_told(sack: Haversack):
    gate, dropped = Gate(), list[str]()
    sack.jobs.start("import", "a", gate, asked_by="me")
    assert gate.begun.wait(10)
    cancelled = sack.jobs.start("import", "a", gate, asked_by="me", unused=lambda: dropped.append("it"))
    assert sack.jobs.cancel(cancelled.id).state is JobState.CANCELLED
    assert dropped == ["it"]
    gate.go.set()


def test_closing_tells_what_never_began(sack: Haversack):
    begun, dropped = Event(), list[str]()

    def until_stopped(progress: Progress) -> Mapping[str, Any]:
        begun.set()
        while True:
            progress(1)

    running = sack.jobs.start("import", "a", until_stopped, asked_by="me")
    sack.jobs.start("import", "b", until_stopped, asked_by="me", unused=lambda: dropped.append("b"))
    assert begun.wait(10)
    sack.jobs.close()
    assert (sack.jobs.get(running.id).state, dropped) == (JobState.CANCELLED, ["b"])
