"""Lifecycle over many memories with readers beside it; a snapshot while others write, restored and compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.maintenance.work import NOW, fill
from bench.options import Options
from bench.table import Table
from haversack.maintenance import restore
from haversack.maintenance.move import digest_of
from haversack.maintenance.snapshot import Occasion, take
from haversack.model.identity import make_id
from haversack.store.sqlite.site import SqliteSite

_SCRIPT = Path(__file__).with_name("work.py")


def run(options: Options) -> Iterator[Table]:
    """100,000 memories and a store of some 100 MB; with `full`, a million and 1 GB."""
    with tempfile.TemporaryDirectory() as top:
        yield _ageing(Path(top) / "age.db", 1_000_000 if options.full else 100_000)
    with tempfile.TemporaryDirectory() as top:
        yield _snapshot(Path(top) / "snap.db", 1_000_000 if options.full else 100_000)


def _ageing(path: Path, count: int) -> Table:
    fill(path, count, 14)
    begun = time.monotonic()
    idle = _reads_while(path, lambda: time.monotonic() - begun < 5)
    rows: list[tuple[str | int | float | None, ...]] = []
    for name, hours in (("first run", 0.0), ("again at once", 0.0), ("a day later", 24.0)):
        child = _start("age", path, str(hours))
        busy = _reads_while(path, lambda child=child: child.poll() is None)
        seen = _answer(child)
        rows.append(
            (
                name,
                seen["changed"],
                seen["seconds"],
                seen["processor"],
                seen["megabytes"],
                _p95(busy),
                _p95(busy) / _p95(idle),
            )
        )
    return Table(
        name="lifecycle",
        title=f"Lifecycle over {count:,} memories in another process, with a reader in this one",
        columns=("run", "changed", "seconds", "processor s", "peak MB", "read p95 ms", "x idle"),
        rows=tuple(rows),
        notes=(f"a read: five memories by id and one session list; idle p95 {_p95(idle):.2f} ms",),
    )


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


def _reads_while(path: Path, going: Callable[[], bool]) -> list[float]:
    """Milliseconds of reads, one every few, as long as it goes on."""
    with closing(SqliteSite(path).open(path)) as store:
        ids = [memory.id for memory in store.changes("n", limit=500).memories]
        times: list[float] = []
        turn = 0
        while going():
            turn += 1
            begun = time.perf_counter()
            store.memories("n", ids[turn % 400 : turn % 400 + 5])
            store.sessions("n")
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
