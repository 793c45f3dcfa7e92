"""What a store that lies in files can do beyond the others: copies of its file, and what stands beside it.

The engine asks an open store for this ability and handles no file itself. Whether there is a file, and of which kind,
is known to what opens the store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from haversack.errors import NotFoundError, StoreError
from haversack.maintenance import archive, restore, snapshot
from haversack.maintenance.archive import Rewritten
from haversack.maintenance.health import Health
from haversack.maintenance.move import Moved
from haversack.maintenance.snapshot import Occasion, Snapshot
from haversack.private import make_folder
from haversack.store.port import Applied, Store
from haversack.store.site import Site, exposed

__all__ = ["Files", "snapshot_at"]

_Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one open store."""

    site: Site
    store: Store

    @property
    def name(self) -> str:
        """The name of the store's file."""
        return self.site.path.name

    @property
    def place(self) -> Path:
        """Where the store's file is, from the root on."""
        return self.site.path.absolute()

    @property
    def size(self) -> int:
        """Bytes that a copy may take."""
        return self.site.size()

    def target(self, to: _Path | None, occasion: Occasion) -> Path:
        """Return where a snapshot goes: to this file or folder, or to the store's own folder."""
        place = archive.default_folder(self.site) if to is None else Path(to)
        if to is None or place.is_dir():
            return place / archive.name_for(self.site, occasion.at, occasion.id)
        return place

    def snapshot(self, to: _Path | None, occasion: Occasion, *, only: str | None) -> Snapshot:
        """Write a consistent, verified copy, of the whole store or only of one namespace."""
        target = self.target(to, occasion)
        if to is None:
            make_folder(target.parent)
        return snapshot.take(self.store, self.site, target, occasion, only=only)

    def snapshots(self) -> list[Snapshot]:
        """Return those that are known and there, oldest first."""
        return archive.known(self.store, self.site)

    def verify(self, path: Path) -> None:
        """Read a snapshot whole and open the store in it; raise NotAStoreError when it is damaged or not ours."""
        snapshot.verify(self.site, path)

    def restore_namespace(self, path: Path, namespace: str) -> Moved:
        """Bring one namespace back from a snapshot; it must not exist here."""
        return restore.restore_namespace(self.site, path, self.store, namespace)

    def holding(self, namespace: str, ids: Sequence[str]) -> list[Snapshot]:
        """Return the snapshots that were taken when one of these memories or turns may have been there already."""
        return archive.holding(self.site, self.snapshots(), namespace, ids)

    def opens(self, taken: Snapshot) -> bool:
        """Return whether the snapshot is under the store's own key, or both are under none."""
        return archive.opens(self.site, taken)

    def erase_from(self, taken: Snapshot, erase: Callable[[Store], Applied], now: datetime) -> Rewritten | None:
        """Rewrite a snapshot as if this had been erased before it was taken; None when it did not hold any of it."""
        return archive.erase_from(self.site, taken, erase, now)

    def put_aside(self) -> Iterator[Store]:
        """Open the stores that a restore put aside, one after the other; one that does not open is passed over."""
        for path in filter(Path.exists, (restore.kept_copy(self.site), restore.set_aside(self.site))):
            with suppress(StoreError), closing(self.site.open(path)) as store:
                yield store

    def sweep(self) -> tuple[str, ...]:
        """Remove half-written copies of processes that are gone; return which."""
        return tuple(map(str, self.site.sweep()))

    def looked_at(self, health: Health) -> Health:
        """Return the store's health with what its files and snapshots say."""
        site, taken = self.site, self.snapshots()
        behind, open_ = archive.behind(self.store, site, taken), exposed(each.path for each in taken)
        return replace(
            health,
            schema=site.schema(site.path),
            size=site.size(),
            last_snapshot=max((each.manifest.taken_at for each in taken), default=None),
            snapshots=len(taken),
            replaced_store=_there(restore.kept_copy(site)),
            set_aside=_there(restore.set_aside(site)),
            faults=(*site.examine(), *health.faults, *behind, *open_),
        )


def snapshot_at(path: _Path) -> Path:
    """Return the place of a snapshot; raise NotFoundError when no file is there."""
    if not Path(path).is_file():
        raise NotFoundError(f"there is no snapshot at {os.fspath(path)}")
    return Path(path)


def _there(path: Path) -> str | None:
    return str(path) if path.exists() else None
