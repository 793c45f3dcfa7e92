"""Runs and their journal: what a maintenance verb set out to do, and each step of it as it landed.

A step and its journal entry are one transaction, so an interrupted run has whole steps only, and the journal knows
which. The run's own record is written with compare-and-set in every step: a process that lost the run (somebody
recovered it meanwhile) cannot write another step. What a run erased for good cannot be undone; its entry says so.
"""

from __future__ import annotations

import os
import socket
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

import msgspec

from haversack.errors import HaversackError, NotFoundError, RefusedError
from haversack.maintenance.marks import Change, Marks, changes_between
from haversack.model.memory import Memory, Stage
from haversack.store import lease as leases
from haversack.store.port import Applied, Batch, Erasure, Restage, Store, Written
from haversack.store.records import Collection

__all__ = [
    "LEASE",
    "RUNS",
    "RUN_RECORDS",
    "STEP_RECORDS",
    "Along",
    "Desk",
    "Journal",
    "Moved",
    "Run",
    "RunState",
    "Step",
    "find_run",
    "forget_old_steps",
    "is_abandoned",
    "owner_is_gone",
    "place_of",
    "running",
    "runs",
    "steps",
]

RUNS, STEPS = "run", "run_step"
LEASE = "maintenance"
_HOLD = timedelta(minutes=10)
_PAGE = 200
_UNDOABLE = timedelta(days=90)
"""How long a run's steps are kept."""
_over: set[str] = set()
"""Owners in this process whose runs have ended, though a full disk may have kept them from saying so."""


class RunState(StrEnum):
    """Where a run stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    """It stopped by itself; the steps before that stand."""
    RECOVERED = "recovered"
    """It was interrupted, and reconciled later."""
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a maintenance verb."""

    id: str
    verb: str
    state: RunState
    owner: str
    started_at: datetime
    changed_at: datetime
    steps: int = 0
    """Steps that landed."""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that it works on, and why it failed; no words of memories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Memories that went from one stage to another."""

    before: Stage
    after: Stage
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step did."""

    action: str
    changes: tuple[Change, ...] = ()
    added: tuple[str, ...] = ()
    """Ids of memories that the step made."""
    erased: tuple[str, ...] = ()
    """Ids of memories that are gone for good."""
    restaged: tuple[Moved, ...] = ()
    """Memories of which it wrote the stage alone."""

    def all_changes(self) -> list[Change]:
        """What it changed, memory by memory."""
        moved = (
            Change(memory=name, before=Marks(stage=each.before), after=Marks(stage=each.after), stage_alone=True)
            for each in self.restaged
            for name in each.memories
        )
        return [*self.changes, *moved]


RUN_RECORDS = Collection(RUNS, Run)
STEP_RECORDS = Collection(STEPS, Step)

Along: TypeAlias = "Callable[[Mapping[str, Memory], tuple[Memory, ...]], tuple[Written, ...]]"
"""From rows as they were and as they will be: the records that must change with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where a verb works: one namespace of a store, with a clock and a source of ids."""

    store: Store
    namespace: str
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    along: Along = lambda _before, _after: ()
    """Records that every step writes in its transaction because of the memories that it writes."""


class Journal:
    """One run in progress."""

    def __init__(self, desk: Desk, run: Run, lease: leases.Lease) -> None:
        self._desk = desk
        self._lease = lease
        self._version = 1
        self.run = run
        self.sequence = 0
        """The namespace's change number after the run's last step."""

    def step(
        self,
        action: str,
        *,
        before: Mapping[str, Memory],
        memories: tuple[Memory, ...] = (),
        stages: Sequence[tuple[Restage, Stage]] = (),
        erase: Erasure | None = None,
        seen: int | None = None,
        made_of: tuple[str, ...] = (),
        sequence: int | None = None,
    ) -> Applied:
        """Carry out one step and its entry in one transaction; durable on return.

        `before` holds the rows that `memories` replace; `stages` come each with the stage before. `seen`, `made_of` and
        `sequence` are those of the Batch: on ConflictError read and decide again.
        """
        entry = Step(
            action=action,
            changes=changes_between(before, memories),
            added=tuple(memory.id for memory in memories if memory.id not in before),
            erased=erase.memories if erase is not None else (),
            restaged=_moved(stages),
        )
        touched = len(memories) + len(stages) + len(entry.erased)
        counts = {**self.run.counts, action: self.run.counts.get(action, 0) + touched}
        written = Written(collection=STEPS, key=f"{self.run.id}/{self.run.steps:06}", value=_encode(entry))
        return self._write(
            replace(self.run, steps=self.run.steps + 1, counts=counts),
            Batch(
                memories=memories,
                stages=tuple(restage for restage, _ in stages),
                erase=erase,
                records=(written, *self._desk.along(before, memories)),
                seen=seen,
                made_of=made_of,
                sequence=sequence,
            ),
        )

    def note(self, **notes: str) -> None:
        """Write down what the run is about to do outside the store, before it does it."""
        self._write(replace(self.run, notes={**self.run.notes, **notes}), Batch())

    def count(self, **counts: int) -> None:
        """Add what the run found."""
        self._write(replace(self.run, counts={**self.run.counts, **counts}), Batch())

    def end(self, state: RunState, **notes: str) -> None:
        """Close the run and give the lease back, in one transaction."""
        closing = leases.releasing(self._lease)
        self._write(
            replace(self.run, state=state, notes={**self.run.notes, **notes}), Batch(records=(closing,)), renew=False
        )

    def _write(self, run: Run, batch: Batch, *, renew: bool = True) -> Applied:
        now = self._desk.clock()
        renewed: tuple[Written, ...] = ()
        lease = self._lease
        if renew:
            lease, keeping = leases.renewing(self._lease, now + _HOLD)
            renewed = (keeping,)
        run = replace(run, changed_at=now)
        record = Written(collection=RUNS, key=run.id, value=_encode(run), expected=self._version)
        applied = self._desk.store.apply(
            self._desk.namespace, replace(batch, records=(*batch.records, record, *renewed))
        )
        self._version += 1
        self._lease = lease
        self.run = run
        self.sequence = applied.sequence
        return applied


@contextmanager
def running(desk: Desk, verb: str, **notes: str) -> Generator[Journal]:
    """A run from beginning to end; RefusedError while another one works on the namespace.

    When the body raises, the run is closed as failed; when the process dies, it stays open until it is recovered.
    """
    now, run_id = desk.clock(), desk.new_id()
    owner = f"{socket.gethostname()}:{os.getpid()}/{run_id}"
    lease = leases.acquire(
        desk.store,
        desk.namespace,
        LEASE,
        owner=owner,
        now=now,
        seconds=_HOLD.total_seconds(),
        abandoned=owner_is_gone,
    )
    if lease is None:
        holder = leases.held_by(desk.store, desk.namespace, LEASE, now)
        who = f" ({place_of(holder)})" if holder is not None else ""
        raise RefusedError("quiescence", f"another maintenance run works on this namespace{who}; wait for it")
    run = Run(id=run_id, verb=verb, state=RunState.RUNNING, owner=owner, started_at=now, changed_at=now, notes=notes)
    record = Written(collection=RUNS, key=run.id, value=_encode(run), expected=0)
    desk.store.apply(desk.namespace, Batch(records=(record,)))
    journal = Journal(desk, run, lease)
    try:
        yield journal
    except BaseException as error:
        _close_failed(journal, error)
        raise
    journal.end(RunState.DONE)


def find_run(store: Store, namespace: str, run_id: str) -> tuple[Run, int]:
    """A run and its record's version; raises NotFoundError."""
    record = store.record(namespace, RUNS, run_id)
    run = RUN_RECORDS.value_of(record)
    if record is None or run is None:
        raise NotFoundError(f"no maintenance run {run_id!r} here")
    return run, record.version


def runs(store: Store, namespace: str) -> list[Run]:
    """All runs, oldest first."""
    found: list[Run] = []
    after = ""
    while page := store.records(namespace, RUNS, after=after, limit=_PAGE):
        found += RUN_RECORDS.values_of(page)
        after = page[-1].key
    return found


def steps(store: Store, namespace: str, run_id: str) -> list[Step]:
    """The steps of a run that landed, in their order."""
    found: list[Step] = []
    after = ""
    while page := store.records(namespace, STEPS, prefix=f"{run_id}/", after=after, limit=_PAGE):
        found += STEP_RECORDS.values_of(page)
        after = page[-1].key
    return found


def forget_old_steps(desk: Desk) -> int:
    """Drop the steps of runs that ended long ago; the runs stay in the list, but can no longer be undone."""
    limit, dropped = desk.clock() - _UNDOABLE, 0
    for run in runs(desk.store, desk.namespace):
        if run.state is RunState.RUNNING or run.changed_at > limit:
            continue
        while page := desk.store.records(desk.namespace, STEPS, prefix=f"{run.id}/", limit=_PAGE):
            gone = tuple(Written(collection=STEPS, key=record.key, value=None) for record in page)
            desk.store.apply(desk.namespace, Batch(records=gone))
            dropped += len(gone)
    return dropped


def owner_is_gone(owner: str) -> bool:
    """Whether the run is over, or its process was on this machine and has ended; False when nobody can tell."""
    if owner in _over:
        return True
    host, pid = _process_of(owner)
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def is_abandoned(store: Store, namespace: str, run: Run, now: datetime) -> bool:
    """Whether a run stands open that nobody works on: its process is gone, or was elsewhere and let its lease end."""
    if run.state is not RunState.RUNNING:
        return False
    elsewhere = _process_of(run.owner)[0] != socket.gethostname()
    return owner_is_gone(run.owner) or (elsewhere and leases.held_by(store, namespace, LEASE, now) != run.owner)


def place_of(owner: str) -> str:
    """The process and machine of an owner, for people."""
    host, pid = _process_of(owner)
    return f"process {pid} on this machine" if host == socket.gethostname() else f"process {pid} on machine {host}"


def _process_of(owner: str) -> tuple[str, str]:
    host, _, pid = owner.partition("/")[0].rpartition(":")
    return host, pid


def _close_failed(journal: Journal, error: BaseException) -> None:
    """A store that cannot be written now leaves the run open; recovering it comes to the same."""
    _over.add(journal.run.owner)
    with suppress(HaversackError):  # the first error is the one to tell
        journal.end(RunState.FAILED, error=type(error).__name__)


def _moved(stages: Sequence[tuple[Restage, Stage]]) -> tuple[Moved, ...]:
    gathered: defaultdict[tuple[Stage, Stage], list[str]] = defaultdict(list)
    for restage, before in stages:
        gathered[before, restage.stage].append(restage.memory)
    return tuple(
        Moved(before=before, after=after, memories=tuple(names)) for (before, after), names in gathered.items()
    )


def _encode(value: object) -> bytes:
    return msgspec.json.encode(value)
