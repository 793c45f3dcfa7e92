"""Lifecycle over many memories beside somebody who asks; a snapshot while others write, restored and compared."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import quantiles
from typing import Any, TypeAlias

from bench.maintenance.work import NOW, age_once, fill, open_at
from bench.options import Options
from bench.table import Table
from haversack.engine.haversack import Haversack
from haversack.maintenance import restore
from haversack.maintenance.move import digest_of
from haversack.maintenance.snapshot import Occasion, take
from haversack.model.identity import make_id
from haversack.store.sqlite.site import SqliteSite

_SCRIPT = Path(__file__).with_name("work.py")
_RUNS = (("first run", 0.0), ("again at once", 0.0), ("a day later", 24.0))
_IDLE_SECONDS = 10
_FEWEST = 4

_Row: TypeAlias = "tuple[str | int | float | None, ...]"


def run(options: Options) -> Iterator[Table]:
    """100,000 memories and a store of some 100 MB; with `full`, a million and 1 GB."""
    with tempfile.TemporaryDirectory() as top:
        yield _ageing(Path(top) / "age.db", 1_000_000 if options.full else 100_000)
    with tempfile.TemporaryDirectory() as top:
        yield _snapshot(Path(top) / "snap.db", 1_000_000 if options.full else 100_000)


def _ageing(path: Path, count: int) -> Table:
    fill(path, count, 14)
    with closing(open_at(path)) as sack:
        sack.namespace("n").index()  # so that no index is built and saved while times are taken
    alone = path.with_name("alone.db")
    shutil.copy(path, alone)
    rows = [*_ageing_beside(path), *_ageing_within(alone)]
    return Table(
        name="lifecycle",
        title=f"Lifecycle over {count:,} memories, with somebody who asks all the time",
        columns=("run", "changed", "seconds", "processor s", "peak MB", "asking p95 ms", "x idle"),
        rows=tuple(rows),
        notes=(
            "asking: `recall` and `context` in turn, of the same namespace, without a pause but 5 ms",
            "other process: the lifecycle has a process of its own; same process: a thread beside the one that asks",
        ),
    )


def _ageing_beside(path: Path) -> Iterator[_Row]:
    with closing(open_at(path)) as sack:
        idle = _p95(_asking_for(sack, _IDLE_SECONDS))
        for name, hours in _RUNS:
            child = _start("age", path, str(hours))
            busy = _p95(_asking_while(sack, lambda child=child: child.poll() is None))
            yield _row(f"other process, {name}", _answer(child), busy, idle)


def _ageing_within(path: Path) -> Iterator[_Row]:
    """In a thread; the peak is that of both, the index of whoever asks included."""
    with closing(open_at(path)) as sack, ThreadPoolExecutor(1) as beside:
        idle = _p95(_asking_for(sack, _IDLE_SECONDS))
        for name, hours in _RUNS:
            ageing = beside.submit(age_once, path, hours)
            busy = _p95(_asking_while(sack, lambda ageing=ageing: not ageing.done()))
            yield _row(f"same process, {name}", {**ageing.result(), "processor": None}, busy, idle)


def _row(name: str, seen: dict[str, Any], busy: float, idle: float) -> _Row:
    return (name, seen["changed"], seen["seconds"], seen["processor"], seen["megabytes"], busy, busy / idle)


def _snapshot(path: Path, count: int) -> Table:
    fill(path, count, 130)
    site = SqliteSite(path)
    size = site.size()
    child = _start("write", path, "1000", "30")
    time.sleep(2)
    occasion = Occasion(id=make_id(NOW, os.urandom(10)), at=NOW, program="bench")
    with closing(site.open(path)) as store:
        begun, used = time.perf_counter(), time.process_time()
        snapshot = take(store, site, path.with_name("one.snapshot"), occasion)
        seconds, processor = time.perf_counter() - begun, time.process_time() - used
        rate = _answer(child)["per_second"]
        begun = time.perf_counter()
        restore.restore_beside(site, snapshot.path, path.with_name("restored.db"))
        restoring = time.perf_counter() - begun
        with closing(site.open(path.with_name("restored.db"))) as other:
            same = digest_of(other, "n") == digest_of(store, "n")
            caught = other.sequence("w")
    return Table(
        name="snapshot",
        title="A verified snapshot while another process writes 1,000 memories a second",
        columns=(
            "MB",
            "seconds",
            "processor s",
            "compressed MB",
            "writes/s meanwhile",
            "restore s",
            "same",
            "writes in it",
        ),
        rows=((size / 1e6, seconds, processor, snapshot.size / 1e6, rate, restoring, str(same), caught),),
    )


def _asking_for(sack: Haversack, seconds: float) -> list[float]:
    begun = time.monotonic()
    return _asking_while(sack, lambda: time.monotonic() - begun < seconds)


def _asking_while(sack: Haversack, going: Callable[[], bool]) -> list[float]:
    """Milliseconds of each question, as long as it goes on; the first warms up and is left out."""
    ns, dice = sack.namespace("n"), random.Random(2)
    ns.index()
    ns.recall("word1 word2")
    times: list[float] = []
    while going() or len(times) < _FEWEST:
        query = " ".join(f"word{dice.randrange(5_000)}" for _ in range(3))
        begun = time.perf_counter()
        if len(times) % 2:
            ns.context(query, budget=1_000)
        else:
            ns.recall(query, top_k=20)
        times.append((time.perf_counter() - begun) * 1000)
        time.sleep(0.005)
    return times


def _p95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


def _start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(_SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE)


def _answer(child: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, _ = child.communicate()
    return json.loads(out)
