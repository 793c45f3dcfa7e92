"""Restoring: into a new place, in the place of the present store (which is kept until confirmed), or one namespace.

A snapshot is verified while it is unpacked, and by opening it, before anything else is touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from haversack.errors import NotFoundError, RefusedError, StoreError
from haversack.maintenance.archive import note_exchange
from haversack.maintenance.move import Moved, copy_namespace
from haversack.maintenance.snapshot import Contents, Manifest, contents_of, read_manifest, unpacked
from haversack.store.port import Store
from haversack.store.site import Site

__all__ = [
    "Restored",
    "confirm",
    "kept_copy",
    "plan",
    "restore_beside",
    "restore_namespace",
    "restore_over",
    "roll_back",
    "set_aside",
]


def set_aside(site: Site) -> Path:
    """Where rolling back puts what a restore had put in place."""
    return site.path.with_name(f"{site.path.name}.restored")


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did, or with `preview` would do."""

    preview: bool
    snapshot: Path
    manifest: Manifest
    target: Path
    replaced: Mapping[str, Contents] = field(default_factory=dict[str, Contents])
    """What the present store holds, and will no longer."""
    kept: Path | None = None
    """Where the store that was replaced is, until `--confirm` removes it."""

    def __str__(self) -> str:
        verb = "would restore" if self.preview else "restored"
        counts = sum(sum(each.census.memories.values()) for each in self.manifest.namespaces.values())
        return (
            f"{verb} {counts} memories in {len(self.manifest.namespaces)} namespaces "
            f"as of {self.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC to {self.target}"
        )


def kept_copy(site: Site) -> Path:
    """Where the store that a restore replaced is kept."""
    return site.path.with_name(f"{site.path.name}.previous")


def plan(site: Site, snapshot: Path, target: Path | None = None) -> Restored:
    """What would happen, from the snapshot's manifest and the present store; nothing is touched."""
    manifest = read_manifest(snapshot)
    place = target or site.path
    _check_target(site, place)
    there = place.exists() and target is None
    return Restored(
        preview=True,
        snapshot=snapshot,
        manifest=manifest,
        target=place,
        replaced=_present(site) if there else {},
        kept=kept_copy(site) if there else None,
    )


def restore_beside(site: Site, snapshot: Path, target: Path) -> Restored:
    """The snapshot as a new store at `target`."""
    planned = plan(site, snapshot, target)
    with unpacked(site, snapshot, target.absolute().parent) as (store, manifest):
        _check_target(site, target)
        store.replace(target)
    return _done(planned, manifest)


def restore_over(site: Site, snapshot: Path, now: datetime) -> Restored:
    """The snapshot in the place of the present store, in one step; what was there is kept until confirmed."""
    planned = plan(site, snapshot)
    _check_kept(site)
    with unpacked(site, snapshot, site.path.absolute().parent) as (store, manifest):
        site.exchange(store, kept_copy(site))
    _note(site, now)
    return _done(planned, manifest)


def restore_namespace(site: Site, snapshot: Path, store: Store, namespace: str) -> Moved:
    """One namespace of a snapshot into an open store that does not have it."""
    manifest = read_manifest(snapshot)
    if site.shown(namespace) not in manifest.namespaces:
        raise NotFoundError(f"{snapshot} holds no namespace {namespace!r}")
    with (
        unpacked(site, snapshot, site.path.absolute().parent) as (copy, _),
        closing(site.open(copy)) as source,
    ):
        return copy_namespace(source, store, namespace, origin=f"snapshot {manifest.id}")


def confirm(site: Site) -> Path:
    """Remove the store that the last restore replaced."""
    kept = kept_copy(site)
    if not kept.exists():
        raise NotFoundError(f"no replaced store is kept beside {site.path}")
    for left in (kept, *(kept.with_name(f"{kept.name}{end}") for end in ("-wal", "-shm"))):
        left.unlink(missing_ok=True)
    return kept


def roll_back(site: Site, now: datetime) -> Path:
    """Put the kept store back in its place; what the restore had put there is kept beside it instead."""
    kept = kept_copy(site)
    if not kept.exists():
        raise NotFoundError(f"no replaced store is kept beside {site.path}")
    aside = set_aside(site)
    site.exchange(kept, aside)
    _note(site, now)
    return aside


def _note(site: Site, now: datetime) -> None:
    """The store that stands there now may be older than the snapshots beside it; that is no fault from here on."""
    with closing(site.open(site.path)) as store:
        note_exchange(store, now)


def _check_target(site: Site, target: Path) -> None:
    if target != site.path and target.exists():
        raise RefusedError("target", f"{target} exists already; a restore beside the store never replaces a file")


def _check_kept(site: Site) -> None:
    kept = kept_copy(site)
    if kept.exists() and not (site.path.exists() and kept.samefile(site.path)):
        raise RefusedError(
            "snapshot", f"{kept} still keeps the store of an earlier restore: confirm that one, or roll it back, first"
        )


def _present(site: Site) -> dict[str, Contents]:
    """What stands there now; a store that cannot be read has nothing to tell."""
    try:
        return contents_of(site, site.path)
    except StoreError:
        return {}


def _done(planned: Restored, manifest: Manifest) -> Restored:
    return replace(planned, preview=False, manifest=manifest)
