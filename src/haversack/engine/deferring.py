"""Writes that no caller waits for: they run soon, one after another, on a thread of their own."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock

__all__ = ["DeferredWrites"]

_LOG = logging.getLogger(__name__)


class DeferredWrites:
    """Owns one thread, made with the first write. Safe for threads; a forked child begins anew."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._lock = Lock()
        self._waiting = set[str]()
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        self._closed = False

    def soon(self, name: str, write: Callable[[], object]) -> None:
        """Run the write soon and return at once; while one of that name waits, another one is left out."""
        self._renew()
        with self._lock:
            if self._closed or name in self._waiting:
                return
            self._thread = self._thread or ThreadPoolExecutor(1, "haversack-bookkeeping")
            with suppress(RuntimeError):  # the interpreter is ending: whoever closes the store writes what is left
                self._last = self._thread.submit(self._run, name, write)
                self._waiting.add(name)

    def wait(self) -> None:
        """Wait until everything has run that was handed over before."""
        self._renew()
        if self._last is not None:
            self._last.result()

    def close(self) -> None:
        """Take nothing more, and wait for what was handed over."""
        self._renew()
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=True)

    def _run(self, name: str, write: Callable[[], object]) -> None:
        with self._lock:
            self._waiting.discard(name)
        try:
            write()
        except Exception as error:  # noqa: BLE001 - the background loop: nobody else would hear of it
            _LOG.warning("bookkeeping of %r failed: %s: %s", name, type(error).__name__, error)

    def _renew(self) -> None:
        if self._pid != os.getpid():
            self.__init__()
