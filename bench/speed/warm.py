"""How evenly a warm `context()` answers, with all its bookkeeping on, beside the code of another checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np

import haversack
from bench.options import Options
from bench.speed.corpus import questions, times, turns
from bench.table import Cell, Table
from haversack import Namespace

__all__ = ["run"]

_SIZES = (1_000, 10_000, 100_000)
_MILLION = 1_000_000
_BATCH = 10_000
_WARMUP = 50
_QUESTIONS = 400
_KINDS = ("passage", "passage", "passage", "fact", "decision")
_ANSWERING = """
import json, sys, time
import haversack
with haversack.open(sys.argv[1]) as sack:
    ns = sack.namespace("bench")
    for line in sys.stdin:
        query, start, begun = json.loads(line), time.perf_counter(), time.thread_time()
        ns.context(query, budget=1000, layout="sections")
        print(time.perf_counter() - start, time.thread_time() - begun, flush=True)
"""
_Times: TypeAlias = tuple[float, float]


def run(options: Options) -> Iterator[Table]:
    """One table: for each size the spread of the times of many different questions, each asked once."""
    sources = {"this": Path(haversack.__file__).parent.parent}
    if options.beside is not None:
        sources["beside"] = options.beside
    sizes = (*_SIZES, _MILLION) if options.full else _SIZES
    yield Table(
        name="warm",
        title=f"A warm context of {_QUESTIONS} different questions, ms",
        columns=("memories", "code", "clock", "median", "p95", "p99", "most", "p95 / median"),
        rows=tuple(row for size in sizes for row in _rows(size, sources)),
        notes=(
            "bookkeeping on, every fourth memory important, a process each, asked in turn",
            "processor: of the thread that asks, to set other work on the machine apart",
        ),
    )


def _rows(size: int, sources: Mapping[str, Path]) -> Iterator[tuple[Cell, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "memory.db"
        with haversack.open(whole) as sack:
            _fill(sack.namespace("bench"), size)
        for name, taken in _taken(whole, sources).items():
            for clock, each in zip(("wall", "processor"), zip(*taken, strict=True), strict=True):
                spread = list(map(float, np.percentile(each, (50, 95, 99, 100)) * 1000))
                yield (f"{size:,}", name, clock, *spread, spread[1] / spread[0])


def _taken(whole: Path, sources: Mapping[str, Path]) -> dict[str, list[_Times]]:
    """Seconds of each question by each code, on a copy of the store of its own."""
    with ExitStack() as stack:
        asked = {
            name: stack.enter_context(_answering(source, Path(shutil.copy(whole, f"{whole}-{name}"))))
            for name, source in sources.items()
        }
        taken = {name: list[_Times]() for name in sources}
        for query in questions(_WARMUP + _QUESTIONS):
            for name, ask in asked.items():
                taken[name].append(ask(query))
        return {name: each[_WARMUP:] for name, each in taken.items()}


@contextmanager
def _answering(source: Path, store: Path) -> Generator[Callable[[str], _Times]]:
    """The wall and the processor time of each question, by a process with the code of `source`."""
    with subprocess.Popen(
        [sys.executable, "-c", _ANSWERING, str(store)],
        env={**os.environ, "PYTHONPATH": str(source.absolute())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        asking, answers = process.stdin, process.stdout
        assert asking is not None
        assert answers is not None

        def ask(query: str) -> _Times:
            print(json.dumps(query), file=asking, flush=True)
            wall, processor = answers.readline().split()
            return float(wall), float(processor)

        yield ask


def _fill(ns: Namespace, size: int) -> None:
    told = enumerate(zip(turns(size), times(size), strict=True))
    for _ in range(0, size, _BATCH):
        ns.remember_many(
            {
                "content": text,
                "kind": _KINDS[number % len(_KINDS)],
                "event_time": at,
                "importance": 0.8 if number % 4 == 0 else 0.5,
                "source": haversack.Source(session=f"session-{number // 20}"),
            }
            for number, (text, at) in islice(told, _BATCH)
        )
