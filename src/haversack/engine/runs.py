"""What an open store has going on in the background, made when first needed and ended at close."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from haversack.llm.port import ChatService, close_service

if TYPE_CHECKING:
    from haversack.compaction.coordinator import Coordinator
    from haversack.compaction.extraction.background import BackgroundExtraction

__all__ = ["Runs"]


@dataclass(slots=True)
class Runs:
    """Safe for threads."""

    available: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """Tokens that the last prompt of a session could take, by namespace and session."""
    _coordinators: dict[str, Coordinator] = field(default_factory=dict[str, "Coordinator"])
    _extractions: dict[str, BackgroundExtraction] = field(default_factory=dict[str, "BackgroundExtraction"])
    _services: dict[str, ChatService] = field(default_factory=dict[str, ChatService])
    _lock: Lock = field(default_factory=Lock)

    def of(self, namespace: str, make: Callable[[], Coordinator]) -> Coordinator:
        """The namespace's coordinator of compactions."""
        with self._lock:
            if namespace not in self._coordinators:
                self._coordinators[namespace] = make()
            return self._coordinators[namespace]

    def extraction_of(self, namespace: str, make: Callable[[], BackgroundExtraction]) -> BackgroundExtraction:
        """The namespace's reader of turns."""
        with self._lock:
            if namespace not in self._extractions:
                self._extractions[namespace] = make()
            return self._extractions[namespace]

    def service(self, name: str, make: Callable[[str], ChatService]) -> ChatService:
        """The chat service of that name, one for all runs."""
        with self._lock:
            if name not in self._services:
                self._services[name] = make(name)
            return self._services[name]

    def forget(self, namespace: str) -> None:
        """Drop what is known of a namespace's sessions, their names included; what runs goes on."""
        with self._lock:
            for place in [place for place in self.available if place[0] == namespace]:
                del self.available[place]
            behind = self._coordinators.get(namespace), self._extractions.get(namespace)
        for each in behind:
            if each is not None:
                each.forget()

    def close(self) -> None:
        """Cancel what runs and wait for it; what was not finished leaves everything as it was."""
        with self._lock:
            extractions, coordinators = list(self._extractions.values()), list(self._coordinators.values())
            services = list(self._services.values())
        for extraction in extractions:
            extraction.close()
        for coordinator in coordinators:
            coordinator.close()
        for service in services:
            close_service(service)
