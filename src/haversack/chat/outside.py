"""What only the program's edge can do for the chat, because it names adapters or outlives the open store."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from haversack.engine.haversack import Haversack
from haversack.errors import RefusedError
from haversack.maintenance.restore import Restored

__all__ = ["NOTHING", "Outside"]


class Outside(Protocol):
    """The edge."""

    def schema(self) -> tuple[int, int]:
        """The schema of the store's file, and the newest that is known."""
        ...

    def plan_restore(self, snapshot: Path) -> Restored:
        """What restoring the snapshot over this store would do; nothing is touched."""
        ...

    def open_store(self, place: str) -> AbstractContextManager[Haversack]:
        """Another store, created if it is new."""
        ...


class _Nothing:
    def schema(self) -> tuple[int, int]:
        raise RefusedError("capability", "this store has no files")

    def plan_restore(self, snapshot: Path) -> Restored:  # noqa: ARG002 - there is nothing to restore over
        raise RefusedError("capability", "this store has no files to restore over")

    def open_store(self, place: str) -> AbstractContextManager[Haversack]:
        raise RefusedError("capability", f"{place} cannot be opened from here")


NOTHING: Outside = _Nothing()
"""For a chat without a store file."""
