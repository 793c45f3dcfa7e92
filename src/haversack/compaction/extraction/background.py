"""Extraction behind the conversation: started every few turns, one at a time per session, waited for on demand."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from haversack.compaction.extraction.extractor import Extracted
from haversack.llm.port import Cancel

__all__ = ["BackgroundExtraction", "Extracts"]


class Extracts(Protocol):
    """What does the work: an Extractor."""

    def extract(self, session: str, cancel: Cancel | None = None) -> Extracted:
        """Read all pending turns."""
        ...


class BackgroundExtraction:
    """Owns its threads: `close` tells them to stop and waits. What they leave unread stays pending in the store."""

    def __init__(
        self,
        extractor: Extracts,
        *,
        every: int = 6,
        report: Callable[[str, Extracted], None] = lambda _session, _done: None,
    ) -> None:
        """`every`: turns of a session that start a run. `report` hears of each run's end, in its thread."""
        self._extractor = extractor
        self._every = every
        self._report = report
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()
        self._running: dict[str, threading.Event] = {}
        self._stop = threading.Event()

    def after_turns(self, session: str, count: int = 1) -> bool:
        """Count turns; returns at once, with whether a run was started."""
        with self._lock:
            self._seen[session] += count
            if self._seen[session] < self._every or session in self._running or self._stop.is_set():
                return False
            self._seen[session] = 0
            ended = self._running[session] = threading.Event()
        name = f"haversack-extraction-{session}"
        threading.Thread(target=self._run, args=(session, ended), name=name, daemon=True).start()
        return True

    def flush(self, session: str) -> Extracted:
        """Read what is pending now, after a run in progress."""
        with self._lock:
            ended = self._running.get(session)
        if ended is not None:
            ended.wait()
        return self._extractor.extract(session, self._stop)

    def forget(self) -> None:
        """Drop the counts of unread turns, and with them names of sessions; what is unread stays so in the store."""
        with self._lock:
            self._seen.clear()

    def wait(self, seconds: float = 60.0, session: str | None = None) -> bool:
        """Wait for what is running, in one session or in all; whether it has ended."""
        end = time.monotonic() + seconds
        with self._lock:
            running = [ended for name, ended in self._running.items() if session in (None, name)]
        return all(ended.wait(max(0.0, end - time.monotonic())) for ended in running)

    def close(self, seconds: float = 5.0) -> bool:
        """Start nothing more, tell what runs to stop, and wait; whether all has ended."""
        self._stop.set()
        return self.wait(seconds)

    def _run(self, session: str, ended: threading.Event) -> None:
        try:
            done = self._extractor.extract(session, self._stop)
        except Exception as error:  # noqa: BLE001 - the background loop: whatever failed is told in the result
            done = Extracted(errors=(f"{type(error).__name__}: {error}",))
        try:
            self._report(session, done)
        finally:
            with self._lock:
                del self._running[session]
            ended.set()
