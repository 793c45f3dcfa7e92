"""What one durable write of each kind costs, in bare commits, statements and processor time."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from statistics import median

import haversack
from bench.options import Options
from bench.table import Table
from haversack.engine.haversack import Haversack

__all__ = ["run"]

_RUNS = 300
_WARMUP = 30
_MANY = 40
_Calls = dict[str, Callable[[], object]]


def run(_: Options) -> Iterator[Table]:
    """One table: each write beside a bare commit of one row to the same disk, all in turn."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(_bare(Path(folder) / "bare.db")) as bare, haversack.open(f"{folder}/memory.db") as sack:
            calls = {"bare durable commit": _committing(bare), **_writes(sack)}
            walls, processors = _timed(calls)
        statements = _counted(Path(folder) / "counted.db")
    first = next(iter(calls))
    yield Table(
        name="write",
        title=f"One durable write, {_RUNS} of each in turn",
        columns=("what", "ms", "bare commits", "processor ms", "of a bare commit's", "statements"),
        rows=tuple(
            (
                name,
                walls[name],
                walls[name] / walls[first],
                processors[name],
                processors[name] / processors[first],
                statements.get(name, 3),
            )
            for name in calls
        ),
        notes=(
            "medians; bare: BEGIN IMMEDIATE, INSERT of one row, COMMIT; the same pragmas in all",
            "default embedder; statements with BEGIN and COMMIT, as SQLite's trace reports them",
        ),
    )


def _writes(sack: Haversack) -> _Calls:
    """Each in a namespace of its own: what one writes, another one's index does not have to take in."""
    passages, statements, talk, many, bulk = map(sack.namespace, ("passages", "statements", "talk", "many", "bulk"))
    session, fresh = talk.session("talk"), count()

    def text() -> str:
        return f"The number is {next(fresh)}"

    return {
        "remember, a passage": lambda: passages.remember(text(), kind="passage"),
        "remember, a statement": lambda: statements.remember(text(), kind="fact"),
        "session.add": lambda: session.add("user", text()),
        f"remember_many, {_MANY} passages": lambda: many.remember_many(
            {"content": text(), "kind": "passage"} for _ in range(_MANY)
        ),
        f"remember_many, {_MANY} statements": lambda: bulk.remember_many([text() for _ in range(_MANY)]),
    }


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    for pragma in ("synchronous = FULL", "secure_delete = ON", "wal_autocheckpoint = 1000", "cache_size = -8000"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE memory (id INTEGER PRIMARY KEY, content)")
    return connection


def _committing(bare: sqlite3.Connection) -> Callable[[], object]:
    fresh = count()

    def commit() -> None:
        bare.execute("BEGIN IMMEDIATE")
        bare.execute("INSERT INTO memory (content) VALUES (?)", (f"The number is {next(fresh)}",))
        bare.execute("COMMIT")

    return commit


def _timed(calls: _Calls) -> tuple[dict[str, float], dict[str, float]]:
    """Median wall and processor time of each call, in milliseconds; the calls take turns."""
    taken = {name: list[tuple[float, float]]() for name in calls}
    for _ in range(_WARMUP + _RUNS):
        for name, call in calls.items():
            start, begun = time.perf_counter(), time.thread_time()
            call()
            taken[name].append((time.perf_counter() - start, time.thread_time() - begun))
    wall, processor = (
        {name: median(pair[which] for pair in pairs[_WARMUP:]) * 1000 for name, pairs in taken.items()}
        for which in (0, 1)
    )
    return wall, processor


def _counted(path: Path) -> dict[str, int]:
    """Statements of each call, on a warm store of its own: tracing takes time."""
    seen: list[str] = []
    connect = sqlite3.connect

    def traced(*values: object, **named: object) -> sqlite3.Connection:
        connection = connect(*values, **named)  # type: ignore[arg-type]
        connection.set_trace_callback(seen.append)
        return connection

    sqlite3.connect = traced
    try:
        with haversack.open(path) as sack:
            calls = _writes(sack)
            for _ in range(_WARMUP):
                for call in calls.values():
                    call()
            return {name: _length(seen, call) for name, call in calls.items()}
    finally:
        sqlite3.connect = connect


def _length(seen: list[str], call: Callable[[], object]) -> int:
    seen.clear()
    call()
    return len(seen)
