"""Turns to write. The threads of one process queue here, before SQLite, whose own waiting polls and knows no order.

It is for speed alone: what keeps writers apart is the database, also those of other processes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from haversack.errors import BusyError

__all__ = ["Turns"]


class Turns:
    """One writer at a time in this process. A forked child, where a writer may have been copied, begins anew."""

    def __init__(self, path: Path, seconds: float) -> None:
        """`seconds` is how long a writer waits before it raises BusyError."""
        self._path = path
        self._seconds = seconds
        self._pid = os.getpid()
        self._lock = threading.Lock()

    @contextmanager
    def mine(self) -> Generator[None]:
        """My turn; no reading waits for it."""
        if self._pid != os.getpid():
            self._lock, self._pid = threading.Lock(), os.getpid()
        lock = self._lock
        if not lock.acquire(timeout=self._seconds):
            raise BusyError(f"{self._path} is held by another writer; nothing was saved, try again")
        try:
            yield
        finally:
            lock.release()
