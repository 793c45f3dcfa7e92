"""Ingest in batches, and a single durable `remember` beside a bare durable commit on the same disk."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import haversack
from bench.available import usable
from bench.options import Options
from bench.speed.corpus import times, turns
from bench.table import Cell, Table
from bench.timing import WALL, medians_ms
from haversack import Namespace

__all__ = ["run"]

_TURNS = 20_000
_BATCH = 1_000


def run(options: Options) -> Iterator[Table]:
    embedders = [name for name in usable(options.embedders) if name != "onnx"]
    yield Table(
        name="ingest",
        title=f"Ingest of {_TURNS:,} turns in transactions of {_BATCH:,}, a second",
        columns=("embedder", "session turns", "memories"),
        rows=tuple((name, _ingest(name, as_turns=True), _ingest(name, as_turns=False)) for name in embedders),
    )
    yield Table(
        name="single",
        title="One durable write, median ms",
        columns=("what", "ms", "times a bare commit"),
        rows=tuple(_singles(embedders)),
        notes=("bare commit: one row into an SQLite file, WAL, synchronous=FULL",),
    )


def _ingest(embedder: str, *, as_turns: bool) -> int:
    told = list(zip(turns(_TURNS), times(_TURNS), strict=True))
    with tempfile.TemporaryDirectory() as folder, haversack.open(f"{folder}/memory.db", embedder=embedder) as sack:
        ns = sack.namespace("bench")
        ns.remember("warm")
        start = time.perf_counter()
        for first in range(0, _TURNS, _BATCH):
            batch = told[first : first + _BATCH]
            if as_turns:
                ns.session(f"s{first}").extend({"role": "user", "content": text, "at": at} for text, at in batch)
            else:
                ns.remember_many({"content": text, "event_time": at} for text, at in batch)
        return round(_TURNS / (time.perf_counter() - start))


def _singles(embedders: list[str]) -> Iterator[tuple[Cell, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        bare.executescript(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE memory (id INTEGER PRIMARY KEY, content)"
        )
        sacks = [haversack.open(str(Path(folder) / f"{name}.db"), embedder=name) for name in embedders]
        fresh = count()

        def commit() -> None:
            bare.execute("BEGIN IMMEDIATE")
            bare.execute("INSERT INTO memory (content) VALUES (?)", (f"The number is {next(fresh)}",))
            bare.execute("COMMIT")

        calls = [
            commit,
            *(_remembering(sack.namespace("bench"), fresh) for sack in sacks),
        ]
        base, *ours = medians_ms(calls, runs=200, warmup=20, clock=WALL)
        yield ("bare durable commit", base, 1.0)
        for name, taken in zip(embedders, ours, strict=True):
            yield (f"remember, embedder {name}", taken, taken / base)
        for sack in sacks:
            sack.close()
        bare.close()


def _remembering(ns: Namespace, fresh: Iterator[int]) -> Callable[[], object]:
    return lambda: ns.remember(f"The number is {next(fresh)}")
