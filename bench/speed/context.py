"""Whole `context()` and `recall()` calls on a warm namespace, and a cold first question in a fresh process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import haversack
from bench.available import usable
from bench.options import Options
from bench.speed.corpus import NOW, questions, times, turns
from bench.table import Cell, Table
from bench.timing import medians_ms
from haversack import Namespace

__all__ = ["fill", "run"]

_SIZES = (1_000, 10_000, 100_000)
_MILLION = 1_000_000
_BATCH = 10_000
_COLD = """
import time, haversack
sack = haversack.open({store!r}, embedder={embedder!r})
start = time.perf_counter()
sack.namespace("bench").context({question!r}, budget=1000, model="cl100k_base", now={now!r})
print(time.perf_counter() - start)
"""


def run(options: Options) -> Iterator[Table]:
    sizes = (*_SIZES, _MILLION) if options.full else _SIZES
    for embedder in usable(options.embedders):
        if embedder != "onnx":
            yield Table(
                name=f"context-{embedder}",
                title=f"One question, median ms, embedder {embedder}",
                columns=("memories", "context, 1,000 tokens", "context, 4,000", "recall, top 10", "cold first context"),
                rows=tuple(_row(size, embedder) for size in sizes),
                notes=("default settings: everything that recall, scoring and packing do by default",),
            )


def _row(size: int, embedder: str) -> tuple[Cell, ...]:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.db")
        with haversack.open(store, embedder=embedder) as sack:
            ns = sack.namespace("bench")
            fill(ns, size)
            warm = _warm(ns)
        return (f"{size:,}", *warm, _cold(store, embedder))


def _warm(ns: Namespace) -> list[float]:
    asked = cycle(questions(100))
    return medians_ms(
        [
            lambda: ns.context(next(asked), budget=1000, model="cl100k_base", now=NOW),
            lambda: ns.context(next(asked), budget=4000, model="cl100k_base", now=NOW),
            lambda: ns.recall(next(asked), top_k=10, now=NOW),
        ],
        runs=60,
        warmup=5,
    )


def _cold(store: str, embedder: str) -> float:
    program = _COLD.format(store=store, embedder=embedder, question=questions(1)[0], now=NOW.isoformat())
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(answer.stdout) * 1000


def fill(ns: Namespace, size: int) -> None:
    """Turns in sessions of twenty, stored as passages in large batches, and indexed."""
    told = zip(turns(size), times(size), strict=True)
    batch: list[dict[str, object]] = []
    for number, (text, at) in enumerate(told):
        source = haversack.Source(session=f"session-{number // 20}")
        batch.append({"content": text, "kind": "passage", "event_time": at, "source": source})
        if len(batch) == _BATCH:
            ns.remember_many(batch)
            batch = []
    if batch:
        ns.remember_many(batch)
    ns.index()
