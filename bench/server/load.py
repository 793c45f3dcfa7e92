"""`remember`, `recall` and `context` over HTTP at rising concurrency, and what HTTP adds to the library's own call."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count, cycle, islice
from pathlib import Path

import haversack
from bench.options import Options
from bench.server.wire import Line, Request, Timing, drive
from bench.speed.context import fill
from bench.speed.corpus import NOW, questions
from bench.table import Cell, Table
from bench.timing import WALL, medians_ms
from haversack import Namespace

__all__ = ["run"]

_MEMORIES = 10_000
_AT_ONCE = (1, 2, 4, 8, 16, 32)
_REQUESTS = 400
_WHERE = "/v1/namespaces/bench"
_SOAK_SECONDS = 600
_FRESH = count()


def run(options: Options) -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "memory.db"
        with haversack.open(store) as sack:
            fill(sack.namespace("bench"), _MEMORIES)
            key = sack.keys.create("bench", scope="admin").secret
            with serving(store) as (port, process):
                yield _overhead(sack.namespace("bench"), port, key)
                yield _load(port, key)
                if options.full:
                    yield _soak(port, key, process)


@contextmanager
def serving(store: Path) -> Generator[tuple[int, int]]:
    """A server process over the store: its port and its process id. Its pace is open, so that load is what limits."""
    words = ["serve", "--port", "0", "--store", str(store)]
    environment = os.environ | {
        "HAVERSACK_SERVER__LIMITS__KEY_PER_MINUTE": "0",
        "HAVERSACK_SERVER__LIMITS__KEY_ACTIVE": "64",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", "from haversack.cli import main; main()", *words],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stderr is not None
    line = next(line for line in process.stderr if "Uvicorn running" in line)
    found = re.search(r":(\d+) ", line)
    assert found is not None
    draining = threading.Thread(target=process.stderr.read, daemon=True)
    draining.start()
    try:
        yield int(found[1]), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        draining.join(10)
        process.stderr.close()


def _requests(verb: str, key: str, where: str = _WHERE) -> Iterator[Request]:
    match verb:
        case "remember":
            for number in _FRESH:
                body = {
                    "content": f"Fact {number}: the train to Oslo leaves at {number % 24} and is {number % 60} late"
                }
                yield Request.post(f"{where}/memories", body, key)
        case "recall":
            for question in cycle(questions(100)):
                yield Request.post(f"{_WHERE}/recall", {"query": question, "top_k": 10, "now": NOW.isoformat()}, key)
        case _:
            for question in cycle(questions(100)):
                body = {
                    "query": question,
                    "budget": 1000,
                    "model": "cl100k_base",
                    "verdicts": False,
                    "now": NOW.isoformat(),
                }
                yield Request.post(f"{_WHERE}/context", body, key)


def _load(port: int, key: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for verb in ("recall", "context", "remember"):
        asyncio.run(drive(port, list(islice(_requests(verb, key), 20)), 1))
        for at_once in _AT_ONCE:
            timing = asyncio.run(drive(port, list(islice(_requests(verb, key), _REQUESTS)), at_once))
            rows.append((verb, at_once, *_figures(timing), timing.refused))
    return Table(
        name="server-load",
        title=f"Over HTTP, one process, {_MEMORIES:,} memories, {_REQUESTS} requests each",
        columns=("verb", "at once", "per second", "p50 ms", "p95 ms", "p99 ms", "refused"),
        rows=tuple(rows),
        notes=("client and server share the machine; recall asks for 10, context packs 1,000 tokens",),
    )


def _overhead(ns: Namespace, port: int, key: str) -> Table:
    """Both sides take turns over the same store, so that a busy moment of the machine touches them alike."""
    rows: list[tuple[Cell, ...]] = []
    for verb, alone in _library(ns).items():
        asked = _requests(verb, key)
        with Line(port) as line:
            library, over_http = medians_ms(
                [alone, lambda line=line, asked=asked: line.send(next(asked))], runs=200, warmup=20, clock=WALL
            )
        rows.append((verb, library, over_http, over_http - library))
    return Table(
        name="server-overhead",
        title="What HTTP adds to the library call, one caller, median ms",
        columns=("verb", "library", "HTTP", "added"),
        rows=tuple(rows),
    )


def _figures(timing: Timing) -> tuple[float, float, float, float]:
    return timing.per_second, timing.at(0.5), timing.at(0.95), timing.at(0.99)


def _library(ns: Namespace) -> dict[str, Callable[[], object]]:
    asked = cycle(questions(100))
    return {
        "recall": lambda: ns.recall(next(asked), top_k=10, now=NOW),
        "context": lambda: ns.context(next(asked), budget=1000, model="cl100k_base", now=NOW),
        "remember": lambda: ns.remember(f"Fact {next(_FRESH)}: the train to Bergen leaves in the morning"),
    }


def _soak(port: int, key: str, process: int) -> Table:
    """Ten minutes of everything at once, and the process's memory along the way.

    What is remembered is erased for good before the next round, so that only a leak can grow.
    """
    where = "/v1/namespaces/soak"
    erasing = Request.post(f"{where}/forget", {"everything": True, "hard": True, "preview": False}, key)
    rows: list[tuple[Cell, ...]] = []
    end, begun = time.monotonic() + _SOAK_SECONDS, time.monotonic()
    while time.monotonic() < end:
        for verb in ("recall", "context"):
            asyncio.run(drive(port, list(islice(_requests(verb, key), 300)), 8))
        asyncio.run(drive(port, list(islice(_requests("remember", key, where), 300)), 8))
        asyncio.run(drive(port, [erasing], 1))
        rows.append((f"{(time.monotonic() - begun) / 60:.1f}", _resident_mb(process)))
    step = max(1, len(rows) // 12)
    return Table(
        name="server-soak",
        title="Ten minutes of all three verbs, eight at once, with a constant number of memories",
        columns=("minute", "resident MB"),
        rows=tuple(rows[::step]),
    )


def _resident_mb(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
