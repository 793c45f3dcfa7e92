"""Embedding in the background: what lacks a vector of the present embedder gets one after a question has met it.

Everything stays findable by its words meanwhile. Stopped at any moment it loses at most the batch in hand; whoever
opens the store next goes on.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from threading import Event, Lock, Thread
from typing import Any

from haversack.engine.core import Core
from haversack.engine.jobs import Cancelled, JobBoard, JobState, Progress
from haversack.engine.listing import embed_rest

__all__ = ["Renewal"]

_LOG = logging.getLogger(__name__)
_BATCH = 32
"""Memories in one transaction: a sentence model on a slow machine embeds so many long ones in two or three seconds."""
_AGAIN = timedelta(minutes=10)
"""Between two attempts at one namespace, whatever became of the first."""
_NEVER = datetime.max.replace(tzinfo=UTC)


class Renewal:
    """Owns one thread, which is there while a namespace waits: one at a time, each a job. Safe for threads."""

    def __init__(self, core: Core, board: JobBoard) -> None:
        self._core = core
        self._board = board
        self._waiting: dict[str, None] = {}
        """Namespaces in the order they were met; the first is being worked on."""
        self._not_before: dict[str, datetime] = {}
        self._thread: Thread | None = None
        self._lock = Lock()
        self._stop = Event()

    def look(self, namespaces: Sequence[str]) -> None:
        """Start what the namespaces need that were just read, and return at once."""
        lacking = [name for name in namespaces if self._core.recall.lacks(name)]
        if not lacking:
            return
        now = self._core.clock()
        with self._lock:
            if not self._stop.is_set():
                self._waiting |= dict.fromkeys(name for name in lacking if now >= self._not_before.get(name, now))
            if self._waiting and self._thread is None:
                atexit.register(self.close)
                self._thread = Thread(target=self._work, name="haversack-reembed", daemon=True)
                self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait for what was started; whether it has ended."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def close(self, seconds: float = 10.0) -> bool:
        """Start nothing more, stop after the batch in hand and wait for it; whether it has ended.

        A service that does not answer is not waited for any longer: its answer finds the store closed.
        """
        self._stop.set()
        atexit.unregister(self.close)
        return self.wait(seconds)

    def _work(self) -> None:
        while (name := self._next()) is not None:
            try:
                self._renew(name)
            except Exception as error:  # noqa: BLE001 - the background loop: words serve until the next attempt
                if not self._stop.is_set():
                    _LOG.warning("embedding namespace %r stopped: %s: %s", name, type(error).__name__, error)
            with self._lock:
                del self._waiting[name]
                self._not_before.setdefault(name, self._core.clock() + _AGAIN)

    def _next(self) -> str | None:
        with self._lock:
            name = None if self._stop.is_set() else next(iter(self._waiting), None)
            if name is None:
                self._thread = None
            else:
                self._not_before.pop(name, None)
            return name

    def _renew(self, name: str) -> None:
        """The first batch shows whether the embedder works; only then there is a job."""
        recall = self._core.recall
        total = len(recall.missing(name))
        left = recall.reembed(name, limit=_BATCH) if total else 0
        if not total or self._stop.is_set():
            return

        def work(progress: Progress) -> Mapping[str, Any]:
            def report(done: int, total: int) -> None:
                progress(done, total)
                if self._stop.is_set():
                    raise Cancelled("the store is closed")

            report(max(0, total - left), total)
            return embed_rest(self._core, name, report, total=total, left=left, batch=_BATCH)

        job = self._board.run("reembed", name, work, asked_by="background")
        if job.state is JobState.FAILED:
            _LOG.warning("embedding namespace %r stopped: %s", name, job.message)
        elif job.state is JobState.CANCELLED:
            self._not_before[name] = _NEVER  # somebody does not want it: not before the store is opened again
