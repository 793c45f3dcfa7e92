"""Taking in what was written, behind the callers' backs: one thread for all indexes of a shelf."""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic

from haversack.recall.slot import Slot

__all__ = ["Builder"]

_LOG = logging.getLogger(__name__)
_QUIET = 1.0
"""Seconds without a write after which nobody is loading any more."""
_ANSWER = 0.03
"""Seconds that the builder leaves to an answer that is not waiting for it any more."""
_RESTS = 12
"""Times as long as a page took, the builder rests while somebody loads: both share one interpreter."""


class Builder:
    """Owns one thread, which is there while an index waits. Safe for threads.

    `step` takes one page of changes into an index and tells whether that was all.
    """

    def __init__(self, step: Callable[[Slot], bool]) -> None:
        self._step = step
        self._waiting: list[Slot] = []
        """In the order in which they came; the first is being built."""
        self._thread: Thread | None = None
        self._lock = Lock()
        self._asked = Event()
        """Somebody waits: no rest until the index is whole."""
        self._stop = Event()
        self._until = 0.0

    def make_way(self) -> None:
        """Rest after the page in hand, for as long as most answers take."""
        self._until = monotonic() + _ANSWER

    def build(self, slot: Slot, *, asked: bool) -> Event:
        """Begin to take in all that is new, without rest when somebody `asked`; the event tells the end."""
        with self._lock:
            built = slot.built or Event()
            if self._stop.is_set():
                built.set()
                return built
            if slot.built is None:
                slot.built = built
                self._waiting.append(slot)
            if asked:
                self._asked.set()
            if self._thread is None:
                atexit.register(self.close)
                self._thread = Thread(target=self._work, name="haversack-index", daemon=True)
                self._thread.start()
        return built

    def close(self) -> None:
        """Stop after the page in hand, for good, and wait for that."""
        with self._lock:
            self._stop.set()
            self._asked.set()
            thread = self._thread
        atexit.unregister(self.close)
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while (slot := self._next()) is not None:
            try:
                self._build(slot)
            except Exception as error:  # noqa: BLE001 - the background loop: whoever asks next meets the error itself
                _LOG.debug("indexing namespace %r stopped: %s: %s", slot.namespace, type(error).__name__, error)
            with self._lock:
                self._waiting.remove(slot)
                done, slot.built = slot.built, None
                if not self._waiting:
                    self._asked.clear()
            if done is not None:
                done.set()

    def _next(self) -> Slot | None:
        with self._lock:
            if not self._waiting:
                self._thread = None
                atexit.unregister(self.close)
                return None
            return self._waiting[0]

    def _build(self, slot: Slot) -> None:
        is_whole = False
        while not (is_whole or slot.dropped or self._stop.is_set()):
            begun = monotonic()
            is_whole = self._step(slot)
            if begun - slot.written < _QUIET:
                self._asked.wait(_RESTS * (monotonic() - begun))
            self._stop.wait(max(0.0, self._until - monotonic()))
