"""How a store is: one value that every door prints. Counting reads every memory once and keeps little of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from haversack.maintenance.ageing import pages_of
from haversack.maintenance.run import RunState, is_abandoned, place_of, runs
from haversack.model.identity import fingerprint
from haversack.model.memory import Kind, Memory, Stage
from haversack.store.fault import Fault
from haversack.store.port import Store

__all__ = ["Advice", "Damaged", "Health", "NamespaceHealth", "look_at"]

_GROWING = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Something to do, and why."""

    code: str
    what: str
    helps: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Damaged:
    """A record that cannot be decoded; every verb takes it for absent."""

    collection: str
    key: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceHealth:
    """One namespace."""

    namespace: str
    memories: int
    """Live ones: neither softly deleted nor superseded."""
    added_last_week: int
    duplicates: int
    """Live statements whose words another live one has."""
    decayed: int
    deleted: int
    superseded: int
    tombstones: int
    waiting_uses: int
    """Journal records of uses that are not counted yet."""
    unfinished: tuple[str, ...] = ()
    """Runs that nobody works on any more."""
    failed: tuple[str, ...] = ()
    """Runs that failed in the last week."""
    working: tuple[str, ...] = ()
    """Processes whose runs go on, on this machine or another one."""
    trimmed: int = 0
    """Important memories that contexts leave out for want of room more often than they carry them."""
    unembedded: int = 0
    """Memories without a vector of the present embedder: questions find them by their words."""
    damaged: tuple[Damaged, ...] = ()
    """Its records that cannot be decoded."""

    @property
    def decayed_share(self) -> float:
        """0..1."""
        return self.decayed / self.memories if self.memories else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A store."""

    at: datetime
    schema: int | None = None
    size: int | None = None
    """Bytes of its files."""
    namespaces: tuple[NamespaceHealth, ...] = ()
    last_snapshot: datetime | None = None
    snapshots: int = 0
    replaced_store: str | None = None
    """Where a restore keeps the store that it replaced."""
    set_aside: str | None = None
    """Where rolling a restore back put what it had restored."""
    failed_jobs: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    advice: tuple[Advice, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing severe is wrong."""
        return not any(fault.severe for fault in self.faults)


def look_at(store: Store, namespace: str, now: datetime) -> NamespaceHealth:
    """Count what a namespace holds."""
    tally = _Tally(now)
    for page in pages_of(store, namespace):
        tally.take(page)
    done = runs(store, namespace)
    return NamespaceHealth(
        namespace=namespace,
        memories=tally.counts["live"],
        added_last_week=tally.counts["new"],
        duplicates=sum(count - 1 for count in tally.marks.values()),
        decayed=tally.counts["decayed"],
        deleted=tally.counts["deleted"],
        superseded=tally.counts["superseded"],
        tombstones=store.census(namespace).tombstones,
        waiting_uses=len(store.records(namespace, "access")),
        unfinished=tuple(run.id for run in done if is_abandoned(store, namespace, run, now)),
        working=tuple(
            place_of(run.owner)
            for run in done
            if run.state is RunState.RUNNING and not is_abandoned(store, namespace, run, now)
        ),
        failed=tuple(run.id for run in done if run.state is RunState.FAILED and now - run.changed_at < _GROWING),
    )


def advise(health: Health) -> tuple[Advice, ...]:
    """What these numbers ask for."""
    found: list[Advice] = []
    for each in health.namespaces:
        found += _about(each)
    if health.namespaces and health.last_snapshot is None:
        found.append(Advice(code="no-snapshot", what="there is no snapshot", helps="haversack snapshot --execute"))
    elif health.last_snapshot is not None and health.at - health.last_snapshot > _GROWING:
        days = (health.at - health.last_snapshot).days
        what = f"the last snapshot is {days} days old"
        found.append(Advice(code="old-snapshot", what=what, helps="haversack snapshot --execute, or --every HOURS"))
    if health.replaced_store is not None:
        what = f"a restore keeps the store that it replaced at {health.replaced_store}"
        found.append(Advice(code="unconfirmed", what=what, helps="haversack restore --confirm, or --roll-back"))
    if health.set_aside is not None:
        what = f"a restore that was rolled back left its store at {health.set_aside}"
        found.append(Advice(code="set-aside", what=what, helps="remove it when nobody needs it"))
    if health.failed_jobs:
        what = f"{len(health.failed_jobs)} background jobs failed"
        found.append(Advice(code="failed-jobs", what=what, helps="see what they say, and ask for them again"))
    return tuple(found)


def _about(each: NamespaceHealth) -> list[Advice]:
    name = each.namespace
    found: list[Advice] = []
    for run in each.unfinished:
        what = f"run {run} in namespace {name!r} was interrupted"
        found.append(
            Advice(
                code="unfinished",
                what=what,
                helps=f"haversack doctor --fix, or haversack lifecycle -n {name} --recover {run}",
            )
        )
    for place in each.working:
        what = f"maintenance works on namespace {name!r}: {place}"
        found.append(
            Advice(code="working", what=what, helps="wait; what an ended machine held is free after 10 minutes")
        )
    if each.duplicates:
        what = f"{each.duplicates} memories in namespace {name!r} repeat another"
        found.append(Advice(code="duplicates", what=what, helps=f"haversack reorganize -n {name} --step dedupe"))
    if each.decayed_share > 0.5:  # noqa: PLR2004 - half
        what = f"{each.decayed_share:.0%} of namespace {name!r} has faded"
        found.append(Advice(code="faded", what=what, helps="slow the decay in its policy, or let it go"))
    if each.trimmed:
        what = f"{each.trimmed} important memories in namespace {name!r} keep being trimmed from contexts"
        found.append(
            Advice(code="trimmed", what=what, helps=f"see `haversack trimmed -n {name}`, and raise the budget")
        )
    if each.unembedded:
        what = f"{each.unembedded} memories in namespace {name!r} have no vector of the present embedder"
        found.append(Advice(code="unembedded", what=what, helps=f"haversack reembed -n {name}"))
    return found


class _Tally:
    """Counts, and the hashes of statements seen so far."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.counts: Counter[str] = Counter()
        self.marks: Counter[int] = Counter()

    def take(self, page: Sequence[Memory]) -> None:
        for memory in page:
            if memory.stage is Stage.DELETED:
                self.counts["deleted"] += 1
            elif memory.superseded_by is not None:
                self.counts["superseded"] += 1
            else:
                self._live(memory)

    def _live(self, memory: Memory) -> None:
        old = self.now - memory.created_at >= _GROWING
        self.counts["live"] += 1
        self.counts["decayed"] += memory.stage is Stage.DECAYED
        self.counts["new"] += not old
        if memory.kind is not Kind.PASSAGE:
            self.marks[hash(fingerprint(memory.kind, memory.content))] += 1
