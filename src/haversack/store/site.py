"""A store seen from outside: its files. What maintenance does with them while the store is open or cannot be opened."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from haversack.private import open_to_others
from haversack.store.fault import Fault
from haversack.store.port import Store

__all__ = ["Salvaged", "Site", "exposed"]

_SHOWN = 3


def exposed(paths: Iterable[Path]) -> Iterator[Fault]:
    """Yield one fault when other users of this machine may read some of these files."""
    if found := open_to_others(paths):
        names = ", ".join(each.name for each in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        what = f"other users of this machine may read {names}"
        helps = f"chmod go-rwx {shlex.join(str(each.absolute()) for each in found)}"
        yield Fault(code="exposed", what=what, helps=helps, severe=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """What could be read out of a damaged store."""

    rows: int
    lost_tables: tuple[str, ...] = ()
    """Tables of which some part could not be read."""


class Site(Protocol):
    """Where one store lives."""

    @property
    def path(self) -> Path:
        """The store's main file."""
        ...

    @property
    def newest_schema(self) -> int:
        """The schema that this program writes."""
        ...

    def schema(self, path: Path) -> int:
        """The schema of a store's file, 0 where there is none; raises NotAStoreError for a foreign file."""
        ...

    def shown(self, namespace: str) -> str:
        """A namespace's name as it may stand in what is not encrypted: itself, or what stands for it."""
        ...

    def open(self, path: Path, *, read_only: bool = False) -> Store:
        """Open a store of this kind somewhere else."""
        ...

    def size(self) -> int:
        """Bytes that a copy may need."""
        ...

    def examine(self) -> list[Fault]:
        """What is wrong with the files; works where the store does not open."""
        ...

    def sweep(self) -> list[Path]:
        """Remove half-written copies and snapshots of processes that are gone; returns which."""
        ...

    def mend(self) -> list[str]:
        """Put right what can be put right without losing anything; says what was done."""
        ...

    def salvage(self, target: Path) -> Salvaged:
        """Copy every row that can be read into a new store at `target`."""
        ...

    def exchange(self, replacement: Path, keep: Path) -> None:
        """Put `replacement` in the store's place in one step, the present store kept at `keep`.

        At every moment a whole store stands in the place. Raises BusyError while anybody has the store open, and
        StoreError when `keep` exists.
        """
        ...
