"""Maintenance of a store as a whole: snapshots, resets, moves, and how it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from haversack.engine.aging import desk_of
from haversack.engine.arguments import checked
from haversack.engine.bookkeeping import damaged_records, drop_damaged
from haversack.engine.core import Core
from haversack.engine.forgetting import Forgotten, certified, erase, scrubbed
from haversack.engine.jobs import JobBoard, JobState
from haversack.engine.listing import unembedded
from haversack.engine.trims import trimmed
from haversack.engine.unnaming import unname
from haversack.errors import ReadOnlyError, RefusedError, StoreError
from haversack.maintenance import archive
from haversack.maintenance.archive import Schedule
from haversack.maintenance.backup import restore_backup
from haversack.maintenance.files import Files, snapshot_at
from haversack.maintenance.health import Damaged, Health, NamespaceHealth, advise, look_at
from haversack.maintenance.move import Moved, copy_namespace, spaces_of
from haversack.maintenance.recover import Recovery, recover
from haversack.maintenance.reset import ResetDone, reset
from haversack.maintenance.run import Run, is_abandoned, running, runs
from haversack.maintenance.snapshot import Occasion, Snapshot
from haversack.model.text import namespace_label
from haversack.store.fault import Fault
from haversack.store.port import SYSTEM, Store

__all__ = ["SnapshotPlan", "StoreMaintenance", "health_of"]

_RESTORE = "restore the last snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPlan:
    """Where a snapshot would go."""

    target: Path
    bytes: int
    """What it may take before it is compressed."""
    namespaces: tuple[str, ...]
    due: bool
    """Whether the schedule asks for one now."""


@checked
class StoreMaintenance:
    """Keeping one store healthy. Only `snapshot` acts at once, for it changes nothing that is there."""

    def __init__(self, core: Core, jobs: JobBoard) -> None:
        self._core = core
        self._jobs = jobs

    def plan_snapshot(self, to: str | os.PathLike[str] | None = None, *, namespace: str | None = None) -> SnapshotPlan:
        """Where a snapshot would go, and whether one is due."""
        files, occasion = self._files(), self._occasion("")
        names = tuple(self._core.store.namespaces()) if namespace is None else (namespace,)
        due = archive.due(self._core.store, self.schedule(), occasion.at)
        return SnapshotPlan(target=files.target(to, occasion), bytes=files.size, namespaces=names, due=due)

    def snapshot(
        self,
        to: str | os.PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        reason: str = "",
        scheduled: bool = False,
    ) -> Snapshot:
        """A consistent, verified copy in one file, while others go on writing; of one namespace if it is named.

        It goes to the store's own folder of snapshots unless `to` names a file or a folder. A `scheduled` one is
        removed again when its retention ends.
        """
        core = self._core
        taken = self._files().snapshot(to, self._occasion(reason), only=namespace)
        with suppress(ReadOnlyError):  # a store that cannot be written can be copied all the same
            archive.note(core.store, taken, scheduled=scheduled)
        return taken

    def keep_schedule(self) -> Snapshot | None:
        """Take a snapshot if one is due, and remove scheduled ones that need not be kept; for a timer to call."""
        if not archive.due(self._core.store, self.schedule(), self._core.clock()):
            return None
        taken = self.snapshot(reason="scheduled", scheduled=True)
        archive.expire(self._core.store, self.schedule())
        return taken

    def schedule(self) -> Schedule:
        """How often snapshots are due, and how many are kept."""
        return archive.schedule_of(self._core.store)

    def set_schedule(self, schedule: Schedule) -> None:
        """Change it."""
        archive.set_schedule(self._core.store, schedule)

    def snapshots(self) -> list[Snapshot]:
        """Those that are known and there, oldest first."""
        return self._files().snapshots()

    def verify_snapshot(self, path: str | os.PathLike[str]) -> None:
        """Read it whole and open the store in it; NotAStoreError when a byte differs, or the store is not ours.

        The seal is a hash, not a signature: it tells damage, not who made the snapshot.
        """
        place = snapshot_at(path)
        self._files().verify(place)

    def restore_namespace(self, path: str | os.PathLike[str], namespace: str) -> Moved:
        """Bring one namespace back from a snapshot; it must not exist here."""
        moved = self._files().restore_namespace(snapshot_at(path), namespace)
        self._core.recall.forget(namespace)
        return moved

    def restore_backup(self, lines: Iterable[bytes], *, namespace: str | None = None) -> Moved:
        """Restore what `NamespaceMaintenance.backup` gave, under its own name or this one; it must not exist here.

        Raises InputError for what is no backup, is damaged or cut short; then nothing of it stays.
        """
        name = None if namespace is None else namespace_label(namespace, "namespace")
        return restore_backup(self._core.store, lines, namespace=name)

    def still_holding(self, forgotten: Forgotten) -> list[Snapshot]:
        """Snapshots that were taken while what was forgotten may have been there: they keep it until they end.

        Those that were rewritten are not among them; those under another key always are, for nobody can look.
        """
        files = self._core.files
        if files is None:
            return []
        ids = (*forgotten.memories, *forgotten.derived, *forgotten.turns)
        found = files.holding(forgotten.namespace, ids)
        return [each for each in found if forgotten.rewritten is None or not files.opens(each)]

    def forget_in_snapshots(self, forgotten: Forgotten) -> Forgotten:
        """Rewrite those snapshots without what was forgotten for good; the certificate then covers them as well.

        Those under another key than the store's stay as they are: `still_holding` names them.
        """
        if not forgotten.hard or forgotten.preview:
            raise RefusedError("state", "only what was forgotten for good is removed from snapshots")
        files, now = self._files(), self._core.clock()
        done = (
            files.erase_from(each, lambda store: erase(store, forgotten), now)
            for each in self.still_holding(forgotten)
            if files.opens(each)
        )
        return certified(replace(forgotten, rewritten=tuple(each for each in done if each is not None)))

    def copy_to(
        self,
        target: StoreMaintenance,
        namespaces: Iterable[str] | None = None,
        *,
        execute: bool = False,
        watch: Callable[[str, int], None] | None = None,
    ) -> list[Moved]:
        """Copy namespaces (all, and what spans them) into another store, compared by hash; a preview counts only.

        Resumable: the same call again goes on where it was interrupted.
        """
        source, into = self._core.store, target._core.store
        names = spaces_of(source) if namespaces is None else list(namespaces)
        if not execute:
            return [_counted(source, name) for name in names]
        origin = "a store in memory" if self._core.files is None else str(self._core.files.place)
        with running(desk_of(self._core, SYSTEM), "copy") as journal:
            moved = [copy_namespace(source, into, name, origin=origin, watch=watch) for name in names if name != SYSTEM]
            journal.count(namespaces=len(moved))
        if SYSTEM in names:
            moved.append(copy_namespace(source, into, SYSTEM, origin=origin, watch=watch))
        return moved

    def reset(
        self,
        namespaces: Sequence[str] | None = None,
        *,
        execute: bool = False,
        confirm: str | None = None,
        snapshot: bool = True,
    ) -> ResetDone:
        """Erase namespaces (None: all) for good, after a snapshot, and what earlier erasures left as well.

        `confirm` must be the name of the one namespace, or of the store's file where there are several.
        """
        core = self._core
        names = core.store.namespaces() if namespaces is None else list(namespaces)
        alone = names[0] if namespaces is not None and len(names) == 1 else None
        expected = alone or ("everything" if core.files is None else core.files.name)
        core.erasers.write_down()
        done = reset(
            desk_of(core, SYSTEM),
            names,
            expected,
            execute=execute,
            confirm=confirm,
            backup=self._backup("before reset") if snapshot else None,
            before=lambda name: unname(core.store, name, None),
        )
        for name in names if execute else ():
            core.recall.forget(name)
            core.erasers.forget(name)
        return replace(done, scrubbed=self.scrub()) if execute else done

    def scrub(self) -> bool:
        """Finish what a reader or a full disk kept an erasure from: bytes that wait in the files; whether all are gone.

        Every write and every opening does the same; this is for a program that does neither for a while.
        """
        return scrubbed(self._core.store)

    def runs(self) -> list[Run]:
        """Runs about more than one namespace, oldest first."""
        return runs(self._core.store, SYSTEM)

    def reconcile(self) -> list[Recovery]:
        """Close every run whose process is gone, in all namespaces; remove half-written files and damaged records."""
        core = self._core
        closed = [
            recover(desk_of(core, space), run.id)
            for space in spaces_of(core.store)
            for run in runs(core.store, space)
            if is_abandoned(core.store, space, run, core.clock())
        ]
        for space in spaces_of(core.store):
            drop_damaged(core.store, space)
        if core.files is not None:
            core.files.sweep()
        return closed

    def health(self) -> Health:
        """How the store is, and what it asks for. Reads every memory once."""
        core = self._core
        namespaces, faults = _looked_into(core)
        seen = Health(at=core.clock(), namespaces=namespaces, failed_jobs=self._failed_jobs(), faults=tuple(faults))
        if core.files is not None:
            seen = core.files.looked_at(seen)
        return replace(seen, advice=advise(seen))

    def _failed_jobs(self) -> tuple[str, ...]:
        week = self._core.clock() - timedelta(days=7)
        failed = {JobState.FAILED, JobState.INTERRUPTED}
        return tuple(job.id for job in self._jobs.all() if job.state in failed and job.changed_at > week)

    def _backup(self, reason: str) -> Callable[[], str] | None:
        if self._core.files is None:
            return None
        return lambda: str(self.snapshot(reason=reason).path)

    def _files(self) -> Files:
        if self._core.files is None:
            raise RefusedError("capability", "this store has no files to take a snapshot of")
        return self._core.files

    def _occasion(self, reason: str) -> Occasion:
        now = self._core.clock()
        id_ = next(self._core.new_ids(now))
        return Occasion(id=id_, at=now, program=version("haversack"), reason=reason)


def health_of(core: Core, namespace: str) -> NamespaceHealth:
    """One namespace, with what its contexts keep leaving out and what has no vector."""
    left_out = len(trimmed(core.trims, core.store, namespace))
    seen = look_at(core.store, namespace, core.clock())
    damaged = damaged_records(core.store, namespace)
    return replace(seen, trimmed=left_out, unembedded=unembedded(core, namespace), damaged=damaged)


def _looked_into(core: Core) -> tuple[tuple[NamespaceHealth, ...], list[Fault]]:
    """Return how the namespaces are that can be read, and what is damaged in any of them."""
    seen: list[NamespaceHealth] = []
    faults = [_fault(SYSTEM, each) for each in damaged_records(core.store, SYSTEM)]
    for name in core.store.namespaces():
        try:
            seen.append(health_of(core, name))
        except StoreError as error:  # one namespace's damage hides no other one
            what = f"namespace {name!r} cannot be read: {error}"
            faults.append(Fault(code="unreadable-row", what=what, helps=_RESTORE))
        else:
            faults += [_fault(name, each) for each in seen[-1].damaged]
    return tuple(seen), faults


def _fault(namespace: str, each: Damaged) -> Fault:
    where = f"in namespace {namespace!r}" if namespace else "among those of the whole store"
    what = f"the record {each.collection}/{each.key} {where} cannot be decoded ({each.reason}): it counts as absent"
    return Fault(code="damaged-record", what=what, helps="`haversack doctor --fix` removes it; of a key, delete it")


def _counted(store: Store, name: str) -> Moved:
    census = store.census(name)
    return Moved(
        namespace=name,
        memories=sum(census.memories.values()) + census.deleted,
        turns=census.turns,
        records=0,
        tombstones=census.tombstones,
        sha256="",
    )
