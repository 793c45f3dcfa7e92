"""Medians of repeated calls, and the machine that they were taken on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

__all__ = ["WALL", "machine", "median_ms", "medians_ms", "use_processor_time"]

WALL = time.perf_counter
Clock = Callable[[], float]
_clock: list[Clock] = [WALL]
"""What calls are timed with; one place, so that a whole run uses one clock."""


def use_processor_time() -> None:
    """Count the processor time of this process instead: steadier beside other work, but blind to waiting for a disk."""
    _clock[0] = time.process_time


def median_ms(call: Callable[[], object], *, runs: int = 30, warmup: int = 3) -> float:
    """Median time of one call, in milliseconds."""
    return medians_ms([call], runs=runs, warmup=warmup)[0]


def medians_ms(
    calls: Iterable[Callable[[], object]], *, runs: int = 30, warmup: int = 3, clock: Clock | None = None
) -> list[float]:
    """The same for several calls that take turns, so that a busy moment of the machine touches all of them alike.

    `clock` is for calls that wait: with WALL they are timed by the wall whatever the run uses.
    """
    calls, read = list(calls), clock or _clock[0]
    for call in calls:
        for _ in range(warmup):
            call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(runs):
        for taken, call in zip(times, calls, strict=True):
            start = read()
            call()
            taken.append(read() - start)
    return [statistics.median(taken) * 1000 for taken in times]


def machine() -> dict[str, str]:
    """What a reader needs in order to compare numbers."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "clock": "wall" if _clock[0] is WALL else "processor",
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
