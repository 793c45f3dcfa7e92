"""Long work outside the call that asked for it: one row per job, progress to watch, cancelling that is honoured.

A job is a record of the namespace that spans namespaces, so any process sees it. Work runs in a few threads of the
process that took it; what was running when that process died is shown as interrupted, and may be asked for again.
Owners take turns, and upkeep of the whole store has a thread of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Event, Lock
from typing import Any

import msgspec

from haversack.engine.core import Core
from haversack.engine.turns import Claim, Shares, Turns
from haversack.errors import HaversackError, NotFoundError, StoreError, outward
from haversack.store.port import SYSTEM, Batch, Written
from haversack.store.records import Collection
from haversack.store.retry import persisting

__all__ = ["JOBS", "JOB_RECORDS", "Cancelled", "Job", "JobBoard", "JobState", "Progress", "Work"]

_LOG = logging.getLogger(__name__)
JOBS = "job"
_SILENCE = timedelta(minutes=2)
"""A running job that said nothing for this long has lost its process."""
_EVERY = timedelta(seconds=1)
"""How often progress is written at most."""


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self not in {JobState.WAITING, JobState.RUNNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job as it stands."""

    id: str
    kind: str
    namespace: str
    state: JobState
    asked_by: str
    created_at: datetime
    changed_at: datetime
    done: int = 0
    """Units of work done so far: bytes of an import, memories of a re-embedding."""
    total: int | None = None
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Counts and ids once it is done; no words of memories."""
    cancel_requested: bool = False
    """Whether somebody, in any process, asked it to stop."""


JOB_RECORDS = Collection(JOBS, Job)


class Cancelled(HaversackError):  # noqa: N818 - named for what happened
    """Somebody cancelled the job; raised inside it by the next report of progress."""


class Progress:
    """How work reports where it stands; each report is also where it stops when it was cancelled."""

    def __init__(self, board: JobBoard, job: Job, stop: Event) -> None:
        self._board = board
        self.job = job
        """As it stands, written or not."""
        self._stop = stop

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """So much is done."""
        if self._stop.is_set() or self._board.get(self.job.id).cancel_requested:
            raise Cancelled("cancelled")
        self.job = self._board.report(self.job, done=done, total=total, message=message)


Work = Callable[[Progress], Mapping[str, Any]]
"""What a job does; it returns counts and ids for the job's `result`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Task:
    """A job with what it takes to do it."""

    job: Job
    work: Work
    stop: Event
    unused: Callable[[], None]
    future: Future[None] = field(default_factory=Future[None])


class _Lane:
    """Threads, and what waits for them."""

    def __init__(self, threads: int, shares: Shares) -> None:
        self.threads = threads
        self.turns = Turns[_Task](shares)
        self.pool: ThreadPoolExecutor | None = None


class JobBoard:
    """The jobs of one store, and the threads that do them."""

    def __init__(self, core: Core, *, threads: int = 2, shares: Shares | None = None) -> None:
        self._core = core
        self._common = _Lane(threads, shares or Shares())
        self._upkeep = _Lane(1, Shares())
        self._stops: dict[str, Event] = {}
        self._futures: dict[str, Future[None]] = {}
        self._lock = Lock()

    def start(
        self,
        kind: str,
        namespace: str,
        work: Work,
        *,
        asked_by: str,
        upkeep: bool = False,
        unused: Callable[[], None] = lambda: None,
    ) -> Job:
        """Put work on the board; CrowdedError when too much of the caller, the namespace or all is waiting already.

        `upkeep` is of the whole store and waits for no namespace's work. `unused` is called instead of work that is
        taken off the board before it begins.
        """
        job = self._new(kind, namespace, asked_by)
        task = _Task(job=job, work=work, stop=Event(), unused=unused)
        lane = self._upkeep if upkeep else self._common
        with self._lock:
            lane.turns.add(Claim(asked_by, namespace, task))
            try:
                self._put(job)
            except BaseException:
                lane.turns.drop(task)
                raise
            self._stops[job.id], self._futures[job.id] = task.stop, task.future
            lane.pool = lane.pool or ThreadPoolExecutor(lane.threads, thread_name_prefix="haversack-job")
            lane.pool.submit(self._work_off, lane)
        return job

    def run(self, kind: str, namespace: str, work: Work, *, asked_by: str) -> Job:
        """Do work here and now, on the board like the rest and waiting for none of it; the job as it ended."""
        job, stop, done = self._new(kind, namespace, asked_by), Event(), Future[None]()
        done.set_running_or_notify_cancel()
        with self._lock:
            self._stops[job.id], self._futures[job.id] = stop, done
        try:
            self._carry_out(job, work, stop)
            return self.get(job.id)
        finally:
            self._leave(job.id)
            done.set_result(None)

    def get(self, job_id: str) -> Job:
        """One job; raises NotFoundError."""
        job = JOB_RECORDS.value_of(self._core.store.record(SYSTEM, JOBS, job_id)) if job_id else None
        if job is None:
            raise NotFoundError(f"no job {job_id!r}")
        return self._seen(job)

    def all(self, namespaces: Iterable[str] | None = None, *, limit: int = 1_000) -> list[Job]:
        """Return the latest jobs, oldest first; only those in these namespaces (a star at the end: all that begin so).

        Jobs are many: `limit` of them are read, and none of another namespace.
        """
        latest = (
            record
            for about in ([None] if namespaces is None else dict.fromkeys(namespaces))
            for record in self._core.store.records(SYSTEM, JOBS, about=about, newest=True, limit=limit)
        )
        found = sorted({record.key: record for record in latest}.items())[-limit:]
        return list(map(self._seen, JOB_RECORDS.values_of(record for _, record in found)))

    def cancel(self, job_id: str) -> Job:
        """Ask a job of any process to stop at its next report; one that is over stays as it is."""
        job = self.get(job_id)
        if not job.state.is_over:
            job = self._put(replace(job, cancel_requested=True))
        with self._lock:
            stop, future = self._stops.get(job_id), self._futures.get(job_id)
        if stop is not None:
            stop.set()
        if future is not None and future.cancel():
            self._take_off(job_id)
            return self._put(self._now(job, state=JobState.CANCELLED, message="cancelled before it began"))
        return job

    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """The job once it is over, if this process runs it."""
        with self._lock:
            future = self._futures.get(job_id)
        if future is not None:
            future.result(timeout)
        return self.get(job_id)

    def report(self, job: Job, *, done: int, total: int | None, message: str) -> Job:
        """Keep how far a job is; written at most once a second."""
        newer = self._now(job, state=JobState.RUNNING, done=done, total=total, message=message)
        if job.state is JobState.RUNNING and newer.changed_at - job.changed_at < _EVERY:
            return replace(newer, changed_at=job.changed_at)
        return self._put(newer)

    def close(self) -> None:
        """Stop what runs at its next report, and wait for it."""
        lanes = (self._common, self._upkeep)
        with self._lock:
            for stop in self._stops.values():
                stop.set()
            waiting = [task for lane in lanes for task in lane.turns if task.future.cancel()]
        for task in waiting:
            self._take_off(task.job.id)
        for lane in lanes:
            pool, lane.pool = lane.pool, None
            if pool is not None:
                pool.shutdown(wait=True, cancel_futures=True)

    def _new(self, kind: str, namespace: str, asked_by: str) -> Job:
        now = self._core.clock()
        return Job(
            id=next(self._core.new_ids(now)),
            kind=kind,
            namespace=namespace,
            state=JobState.WAITING,
            asked_by=asked_by,
            created_at=now,
            changed_at=now,
        )

    def _take_off(self, job_id: str) -> None:
        """Forget a job that was cancelled before it began."""
        with self._lock:
            lanes = (self._common, self._upkeep)
            found = [(lane, task) for lane in lanes for task in lane.turns if task.job.id == job_id]
            dropped = [task for lane, task in found if lane.turns.drop(task)]
        for task in dropped:
            task.unused()
        self._leave(job_id)

    def _work_off(self, lane: _Lane) -> None:
        """Do what may be done now, one after another.

        What may not begin yet is begun by the thread that ends what stands in its way.
        """
        while True:
            with self._lock:
                claim = lane.turns.take()
            if claim is None:
                return
            try:
                if claim.work.future.set_running_or_notify_cancel():
                    self._run(claim.work)
                else:
                    claim.work.unused()
            finally:
                with self._lock:
                    lane.turns.done(claim)

    def _run(self, task: _Task) -> None:
        try:
            self._carry_out(task.job, task.work, task.stop)
        except Exception as error:  # noqa: BLE001 - the background loop: the log has it, and whoever waits gets it
            _LOG.exception("the job %s (%s) broke", task.job.id, task.job.kind)
            self._leave(task.job.id)
            task.future.set_exception(error)
        else:
            self._leave(task.job.id)
            task.future.set_result(None)

    def _carry_out(self, job: Job, work: Work, stop: Event) -> None:
        progress = Progress(self, self._put(self._now(job, state=JobState.RUNNING)), stop)
        if progress.job.cancel_requested:
            self._end(progress.job, JobState.CANCELLED, "cancelled before it began", {})
            return
        try:
            result = work(progress)
        except Cancelled:
            self._end(progress.job, JobState.CANCELLED, "cancelled; what was done so far is kept", {})
        except HaversackError as error:
            if isinstance(error, StoreError):
                _LOG.warning("the store refused the job %s (%s)", job.id, job.kind, exc_info=error)
            self._end(progress.job, JobState.FAILED, outward(error), {})
        except Exception as error:
            self._end(progress.job, JobState.FAILED, f"{type(error).__name__}: see the log", {})
            raise
        else:
            self._end(progress.job, JobState.DONE, "", result)

    def _end(self, job: Job, state: JobState, message: str, result: Mapping[str, Any]) -> None:
        self._put(self._now(job, state=state, message=message, result=result))

    def _leave(self, job_id: str) -> None:
        with self._lock:
            self._stops.pop(job_id, None)
            self._futures.pop(job_id, None)

    def _seen(self, job: Job) -> Job:
        """A job whose process is gone is shown as interrupted."""
        silent = self._core.clock() - job.changed_at > _SILENCE
        if job.state.is_over or job.id in self._futures or not silent:
            return job
        return replace(job, state=JobState.INTERRUPTED, message="its process ended; ask for it again")

    def _now(self, job: Job, **changes: Any) -> Job:
        return replace(job, changed_at=self._core.clock(), **changes)

    def _put(self, job: Job) -> Job:
        """Write it. What ended stays as it is, and who asked it to stop has asked."""
        return persisting(lambda: self._try_to_put(job))

    def _try_to_put(self, job: Job) -> Job:
        record = self._core.store.record(SYSTEM, JOBS, job.id)
        if record is not None:
            stored = msgspec.json.decode(record.value, type=Job)
            if stored.state.is_over:
                return stored
            job = replace(job, cancel_requested=job.cancel_requested or stored.cancel_requested)
        value, version = msgspec.json.encode(job), 0 if record is None else record.version
        written = Written(collection=JOBS, key=job.id, value=value, expected=version, about=job.namespace)
        self._core.store.apply(SYSTEM, Batch(records=(written,)))
        return job
