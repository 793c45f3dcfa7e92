from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from types import FrameType

import pytest

from haversack.llm import calls
from haversack.llm.port import ServiceCancelled


def test_a_signal_whose_handler_outlasts_a_look_does_not_stop_the_looking() -> None:
    cancel, handled, released = threading.Event(), threading.Event(), threading.Event()
    waiting = threading.main_thread().ident or 0

    def slowly(_number: int, _frame: FrameType | None) -> None:
        released.wait(3 * calls._LOOK_EVERY)
        handled.set()

    def work() -> Generator[str]:
        for _ in range(5):
            handled.clear()
            signal.pthread_kill(waiting, signal.SIGUSR1)
            handled.wait(1)
        cancel.set()
        released.wait(5)
        yield "too late"

    before = signal.signal(signal.SIGUSR1, slowly)
    try:
        with pytest.raises(ServiceCancelled):
            next(calls.supervised(work, total=None, idle=60, cancel=cancel))
    finally:
        released.set()
        signal.signal(signal.SIGUSR1, before)
