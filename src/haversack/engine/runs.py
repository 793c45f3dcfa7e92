"""The background runs of an open store: one coordinator per namespace, made when first needed, ended at close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from haversack.compaction.coordinator import Coordinator

__all__ = ["Runs"]


@dataclass(slots=True)
class Runs:
    """Safe for threads."""

    _coordinators: dict[str, Coordinator] = field(default_factory=dict[str, Coordinator])
    _lock: Lock = field(default_factory=Lock)

    def of(self, namespace: str, make: Callable[[], Coordinator]) -> Coordinator:
        """The namespace's coordinator."""
        with self._lock:
            if namespace not in self._coordinators:
                self._coordinators[namespace] = make()
            return self._coordinators[namespace]

    def close(self) -> None:
        """Cancel what runs and wait for it; what was not finished leaves everything as it was."""
        with self._lock:
            coordinators = list(self._coordinators.values())
        for coordinator in coordinators:
            coordinator.close()
