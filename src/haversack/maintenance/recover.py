"""After an interruption, and after second thoughts: reconciling a run from its journal, and undoing it.

A run is never replayed. What its journal says is compared with the rows as they are; what differs was changed by
somebody since, is left alone and is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from haversack.errors import ConflictError, RefusedError
from haversack.lifecycle.policy import softly_deleted
from haversack.maintenance.marks import Change
from haversack.maintenance.run import (
    LEASE,
    RUNS,
    Desk,
    Journal,
    Run,
    RunState,
    Step,
    find_run,
    owner_is_gone,
    place_of,
    running,
    steps,
)
from haversack.model.memory import Memory, Stage
from haversack.store import lease as leases
from haversack.store.port import Batch, Written

__all__ = ["Recovery", "recover", "undo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What was found and done."""

    run: Run
    steps: int
    """Steps that had landed, each whole."""
    standing: int
    """Memories that are as the run left them."""
    changed_since: tuple[str, ...] = ()
    """Ids of those that somebody changed afterwards; they are left as they are."""
    erased: tuple[str, ...] = ()
    """Ids of those that the run, or somebody since, erased for good."""
    restored: tuple[str, ...] = ()
    """Ids of those that undoing brought back to what they were."""
    removed: tuple[str, ...] = ()
    """Half-written files that are gone now."""
    advice: str = ""


def recover(desk: Desk, run_id: str) -> Recovery:
    """Close an interrupted run: say what landed, and free the namespace for others."""
    run, version = find_run(desk.store, desk.namespace, run_id)
    found = _compare(desk, run, steps(desk.store, desk.namespace, run_id))
    if run.state is not RunState.RUNNING:
        return replace(found, advice=f"the run is {run.state} already; nothing was to be recovered")
    now = desk.clock()
    holder = leases.held_by(desk.store, desk.namespace, LEASE, now)
    if holder == run.owner and not owner_is_gone(run.owner):
        raise RefusedError("quiescence", f"run {run_id} still works: {place_of(run.owner)}")
    closed = replace(run, state=RunState.RECOVERED, changed_at=now)
    record = Written(collection=RUNS, key=run.id, value=msgspec.json.encode(closed), expected=version)
    try:
        desk.store.apply(desk.namespace, Batch(records=(record,)))
    except ConflictError:
        raise RefusedError("quiescence", f"run {run_id} took a step just now: it still works") from None
    _free(desk, run)
    advice = f"each step stands whole; run `{run.verb}` again for the rest" + (
        ", or undo this part" if run.steps else ""
    )
    return replace(found, run=closed, advice=advice)


def undo(desk: Desk, run_id: str) -> Recovery:
    """Put back what the run changed, newest step first; what was erased for good stays erased."""
    run, version = find_run(desk.store, desk.namespace, run_id)
    if run.state in {RunState.RUNNING, RunState.UNDONE}:
        raise RefusedError("state", f"run {run_id} is {run.state}; only what ended can be undone")
    done = steps(desk.store, desk.namespace, run_id)
    if len(done) < run.steps:
        raise RefusedError("journal", f"the steps of run {run_id} are no longer kept")
    found = _compare(desk, run, done)
    restored: list[str] = []
    with running(desk, "undo", undoes=run_id) as journal:
        for step in reversed(done):
            restored += _put_back(desk, journal, step)
        undone = replace(run, state=RunState.UNDONE, changed_at=desk.clock())
        record = Written(collection=RUNS, key=run.id, value=msgspec.json.encode(undone), expected=version)
        desk.store.apply(desk.namespace, Batch(records=(record,)))
    return replace(found, run=undone, restored=tuple(restored))


def _put_back(desk: Desk, journal: Journal, step: Step) -> list[str]:
    """The step's changes reversed in one transaction, and what it made softly deleted."""
    while True:
        changes = step.all_changes()
        names = [change.memory for change in changes] + list(step.added)
        rows = {memory.id: memory for memory in desk.store.memories(desk.namespace, names)}
        back = [
            change.undone_in(rows[change.memory])
            for change in changes
            if change.memory in rows and change.stands_in(rows[change.memory])
        ]
        made = (rows[name] for name in step.added if name in rows)
        back += [softly_deleted(memory, desk.clock()) for memory in made if memory.stage is not Stage.DELETED]
        if not back:
            return []
        seen = max(memory.changed for memory in rows.values())
        try:
            journal.step("undo", before=rows, memories=tuple(back), seen=seen)
        except ConflictError:
            if not _moved(desk, rows):
                raise
            continue
        return [memory.id for memory in back]


def _moved(desk: Desk, rows: Mapping[str, Memory]) -> bool:
    now = desk.store.memories(desk.namespace, list(rows))
    return {memory.id: memory.changed for memory in now} != {name: row.changed for name, row in rows.items()}


def _compare(desk: Desk, run: Run, done: Sequence[Step]) -> Recovery:
    last: dict[str, Change] = {change.memory: change for step in done for change in step.all_changes()}
    rows = {memory.id: memory for memory in desk.store.memories(desk.namespace, list(last))}
    standing = {name for name, change in last.items() if name in rows and change.stands_in(rows[name])}
    gone = [name for step in done for name in step.erased] + [name for name in last if name not in rows]
    return Recovery(
        run=run,
        steps=len(done),
        standing=len(standing),
        changed_since=tuple(name for name in rows if name not in standing),
        erased=tuple(dict.fromkeys(gone)),
    )


def _free(desk: Desk, run: Run) -> None:
    """Take over the lease of the run that is gone, and end it."""
    lease = leases.acquire(
        desk.store,
        desk.namespace,
        LEASE,
        owner=run.owner,
        now=desk.clock(),
        seconds=1,
        abandoned=lambda owner: owner == run.owner,
    )
    if lease is not None:
        leases.release(desk.store, desk.namespace, lease)
