"""Ctrl-C while something runs: the first one asks it to stop, and the program goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stoppable"]


@contextmanager
def stoppable() -> Generator[threading.Event]:
    """An event that Ctrl-C sets; outside of the main thread nothing sets it."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        asked.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
