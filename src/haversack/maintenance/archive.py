"""The snapshots of a store: where they are, when the next is due, which may go, and erasing something from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from haversack.errors import ConfigError, NotAStoreError
from haversack.maintenance.snapshot import SUFFIX, Occasion, Snapshot, listed, pack, read_manifest, unpacked
from haversack.model.identity import ENTROPY_BYTES, make_id
from haversack.store.fault import Fault
from haversack.store.port import SYSTEM, Applied, Batch, Store, Written
from haversack.store.records import Collection
from haversack.store.site import Site

__all__ = [
    "EXCHANGES",
    "SCHEDULES",
    "SNAPSHOTS",
    "Kept",
    "Rewritten",
    "Schedule",
    "behind",
    "default_folder",
    "due",
    "erase_from",
    "expire",
    "holding",
    "known",
    "name_for",
    "note",
    "note_exchange",
    "opens",
    "retained",
    "schedule_of",
    "set_schedule",
]

_COLLECTION = "snapshot"
_SCHEDULE = "schedule"
_EXCHANGED = "exchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How often a snapshot is taken, and which are kept."""

    every_hours: float = 24
    keep_last: int = 7
    keep_daily: int = 7
    """The newest of each of so many days."""
    keep_weekly: int = 4

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if not self.every_hours > 0:
            raise ConfigError(f"schedule.every_hours={self.every_hours!r} must be above 0")
        for name in ("keep_last", "keep_daily", "keep_weekly"):
            if getattr(self, name) < (name == "keep_last"):
                raise ConfigError(f"schedule.{name}={getattr(self, name)!r} is too small: the last one is always kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A snapshot as the store remembers it."""

    id: str
    path: str
    taken_at: datetime
    only: str | None = None
    scheduled: bool = False


SNAPSHOTS = Collection(_COLLECTION, Kept)
SCHEDULES = Collection(_SCHEDULE, Schedule)
EXCHANGES = Collection(_EXCHANGED, datetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """One snapshot from which something was erased."""

    path: Path
    id: str
    memories: int
    turns: int
    before: str
    """SHA-256 of the store in it as it was; no file has it any more."""
    after: str
    """SHA-256 of the store in it now, as its manifest says."""


def default_folder(site: Site) -> Path:
    """Where snapshots go when nobody says where."""
    return site.path.with_name(f"{site.path.name}.snapshots")


def name_for(site: Site, at: datetime, id_: str) -> str:
    """A file name that sorts by time."""
    return f"{site.path.stem}-{at:%Y%m%dT%H%M%SZ}-{id_[-6:].lower()}{SUFFIX}"


def note(store: Store, snapshot: Snapshot, *, scheduled: bool = False) -> None:
    """Have the store remember where its snapshot is, so that erasures and retention find it."""
    manifest = snapshot.manifest
    kept = Kept(
        id=manifest.id,
        path=str(snapshot.path.absolute()),
        taken_at=manifest.taken_at,
        only=manifest.only,
        scheduled=scheduled,
    )
    record = Written(collection=_COLLECTION, key=kept.id, value=msgspec.json.encode(kept))
    store.apply(SYSTEM, Batch(records=(record,)))


def known(store: Store, site: Site) -> list[Snapshot]:
    """The snapshots that the store remembers and those in its own folder, as far as they are there, oldest first."""
    found = {each.path.absolute(): each for each in listed(default_folder(site))}
    for kept in _remembered(store):
        path = Path(kept.path)
        if path not in found:
            with suppress(OSError, NotAStoreError):
                found[path] = Snapshot(path=path, manifest=read_manifest(path), size=path.stat().st_size)
    return sorted(found.values(), key=lambda each: (each.manifest.taken_at, each.path.name))


def schedule_of(store: Store) -> Schedule:
    """The schedule in force."""
    return SCHEDULES.value_of(store.record(SYSTEM, _SCHEDULE, "snapshot")) or Schedule()


def set_schedule(store: Store, schedule: Schedule) -> None:
    """Set the schedule; whoever runs `haversack snapshot --scheduled` from time to time keeps it."""
    record = Written(collection=_SCHEDULE, key="snapshot", value=msgspec.json.encode(schedule))
    store.apply(SYSTEM, Batch(records=(record,)))


def due(store: Store, schedule: Schedule, now: datetime) -> bool:
    """Whether the last whole snapshot is older than the schedule allows; one from the future does not count."""
    times = [kept.taken_at for kept in _remembered(store) if kept.only is None and kept.taken_at <= now]
    return not times or now - max(times) >= timedelta(hours=schedule.every_hours)


def expire(store: Store, schedule: Schedule) -> list[Path]:
    """Remove the scheduled snapshots that need not be kept; those taken by hand stay until somebody removes them."""
    scheduled = [kept for kept in _remembered(store) if kept.scheduled]
    keep = retained([kept.taken_at for kept in scheduled], schedule)
    removed: list[Path] = []
    for kept in scheduled:
        if kept.taken_at not in keep:
            Path(kept.path).unlink(missing_ok=True)
            _forget(store, kept)
            removed.append(Path(kept.path))
    for kept in _remembered(store):
        if not Path(kept.path).exists():
            _forget(store, kept)
    return removed


def retained(times: Iterable[datetime], schedule: Schedule) -> set[datetime]:
    """Which of these moments' snapshots are kept: the last ones, and the newest of each recent day and week."""
    newest = sorted(set(times), reverse=True)
    kept = set(newest[: schedule.keep_last])
    kept |= set(_newest_of_each([(at.date().isoformat(), at) for at in newest])[: schedule.keep_daily])
    return kept | set(_newest_of_each([(at.strftime("%G-%V"), at) for at in newest])[: schedule.keep_weekly])


def holding(site: Site, snapshots: Iterable[Snapshot], namespace: str, ids: Sequence[str]) -> list[Snapshot]:
    """Those that were taken when one of these memories or turns may have been there already.

    An id begins with the time at which it was made; what was made later cannot be in an earlier snapshot. One under
    another key than the store's does not tell which namespaces it holds: it may be this one.
    """
    if not ids:
        return []
    oldest, name = min(ids), site.shown(namespace)
    return [
        each
        for each in snapshots
        if (name in each.manifest.namespaces or not opens(site, each))
        and oldest <= make_id(each.manifest.taken_at, b"\xff" * ENTROPY_BYTES)
    ]


def opens(site: Site, snapshot: Snapshot) -> bool:
    """Whether the snapshot is under the store's own key, or both are under none."""
    return snapshot.manifest.key == site.shown("")


def note_exchange(store: Store, at: datetime) -> None:
    """Have the store remember that it was put in another one's place; older snapshots may know more than it does."""
    record = Written(collection=_EXCHANGED, key="last", value=msgspec.json.encode(at))
    store.apply(SYSTEM, Batch(records=(record,)))


def behind(store: Store, site: Site, snapshots: Sequence[Snapshot]) -> tuple[Fault, ...]:
    """Namespaces that count lower than a snapshot of them: something took acknowledged writes away from the store."""
    since = EXCHANGES.value_of(store.record(SYSTEM, _EXCHANGED, "last"))
    ours = (each.manifest for each in snapshots if opens(site, each))
    compared = [each for each in ours if since is None or each.taken_at > since]
    found: list[Fault] = []
    names = {site.shown(name): name for name in store.namespaces()}
    for shown in sorted({shown for each in compared for shown in each.namespaces}):
        name = names.get(shown, shown)
        newest = max((each.namespaces[shown].sequence for each in compared if shown in each.namespaces), default=0)
        if newest > (here := store.sequence(name)):
            what = f"namespace {name!r} is at change {here}, a snapshot of it is at {newest}: writes are missing"
            helps = "was the store's -wal file deleted, or an older store put in its place? Restore the last snapshot"
            found.append(Fault(code="behind", what=what, helps=helps))
    return tuple(found)


def erase_from(site: Site, snapshot: Snapshot, erase: Callable[[Store], Applied], now: datetime) -> Rewritten | None:
    """Make the snapshot as if this had been erased before it was taken; None when it did not hold any of it.

    The old file is replaced by the new one in one step, after the new one was verified.
    """
    with unpacked(site, snapshot.path, snapshot.path.absolute().parent) as (copy, manifest):
        with closing(site.open(copy)) as store:
            applied = erase(store)
        if not applied.erased_memories and not applied.erased_turns:
            return None
        occasion = Occasion(id=manifest.id, at=manifest.taken_at, program=manifest.program, reason=manifest.reason)
        packed = pack(site, copy, snapshot.path, occasion, only=manifest.only, rewritten_at=now)
    return Rewritten(
        path=snapshot.path,
        id=manifest.id,
        memories=len(applied.erased_memories),
        turns=len(applied.erased_turns),
        before=manifest.sha256,
        after=packed.manifest.sha256,
    )


def _remembered(store: Store) -> list[Kept]:
    found: list[Kept] = []
    after = ""
    while page := store.records(SYSTEM, _COLLECTION, after=after):
        found += SNAPSHOTS.values_of(page)
        after = page[-1].key
    return found


def _forget(store: Store, kept: Kept) -> None:
    store.apply(SYSTEM, Batch(records=(Written(collection=_COLLECTION, key=kept.id, value=None),)))


def _newest_of_each(dated: Sequence[tuple[str, datetime]]) -> list[datetime]:
    """The first of each label; the input is newest first."""
    first: dict[str, datetime] = {}
    for label, at in dated:
        first.setdefault(label, at)
    return list(first.values())
