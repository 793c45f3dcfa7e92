"""The recall index: its scan beside the memory-bandwidth floor, its bytes, reads beside a writer and beside tenants."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np

import haversack
from bench.options import Options
from bench.speed.context import fill
from bench.speed.corpus import NOW, questions
from bench.table import Cell, Table
from bench.timing import WALL, medians_ms
from haversack import Namespace
from haversack.embed.static import StaticEmbedder
from haversack.recall.columns import Columns
from haversack.recall.shelf import Shelf
from haversack.recall.vector import cosines

__all__ = ["run"]

_SIZES = (1_000, 10_000, 100_000)
_MILLION = 1_000_000
_WRITER = """
import sys, time, haversack
from bench.speed.corpus import turns
texts = turns(1_000, seed=3)
with haversack.open({store!r}) as sack:
    ns = sack.namespace("bench")
    print("ready", flush=True)
    for second in range(20):
        for start in range(0, 1_000, 100):
            due = time.monotonic() + 0.1
            told = (f"{{text}} {{second}}" for text in texts[start : start + 100])
            ns.remember_many({{"content": text, "kind": "passage"}} for text in told)
            time.sleep(max(0.0, due - time.monotonic()))
"""
"""A process that adds a thousand memories a second, a hundred at a time, for at most twenty seconds."""


def run(options: Options) -> Iterator[Table]:
    sizes = (*_SIZES, _MILLION) if options.full else _SIZES
    yield Table(
        name="scan",
        title="Cosines with every vector of a namespace, median ms",
        columns=("vectors", "scan", "reading the same bytes", "times"),
        rows=tuple(map(_scan, sizes)),
        notes=("128 signed bytes a vector; reading: numpy's sum of them as 64-bit numbers, one core",),
    )
    yield Table(
        name="fresh",
        title="context() at 1,000 tokens while another process adds 1,000 memories a second, median ms",
        columns=("memories", "alone", "beside the writer", "times"),
        rows=tuple(map(_beside_writer, _SIZES)),
        notes=("each read takes in everything that was acknowledged before it",),
    )
    yield Table(
        name="tenant",
        title="A tenant of 1,000 memories in a store of many, median ms",
        columns=("memories in the store", "context, 1,000 tokens", "recall, top 10", "index bytes a memory"),
        rows=tuple(_tenant(size) for size in (0, *sizes[1:])),
    )


def _scan(size: int) -> tuple[Cell, ...]:
    columns = Columns(StaticEmbedder.dimension)
    columns.extend(size)
    chance = np.random.default_rng(1)
    columns.vectors[:] = chance.integers(-127, 128, columns.vectors.shape, np.int8)
    columns.scale[:] = 0.01
    question = chance.normal(size=columns.dimension).astype(np.float32)
    words = columns.vectors.view(np.int64)
    ours, floor = medians_ms([lambda: cosines(columns, question), words.sum], runs=50)
    return (f"{size:,}", ours, floor, ours / floor)


def _beside_writer(size: int) -> tuple[Cell, ...]:
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "memory.db")
        with haversack.open(store) as sack:
            ns = sack.namespace("bench")
            fill(ns, size)
            alone = _median(ns)
            writer = subprocess.Popen([sys.executable, "-c", _WRITER.format(store=store)], stdout=subprocess.PIPE)
            try:
                assert writer.stdout is not None
                writer.stdout.readline()
                beside = _median(ns)
            finally:
                writer.kill()
                writer.communicate()
    return (f"{size:,}", alone, beside, beside / alone)


def _tenant(others: int) -> tuple[Cell, ...]:
    with tempfile.TemporaryDirectory() as folder, haversack.open(str(Path(folder) / "memory.db")) as sack:
        if others:
            fill(sack.namespace("others"), others)
        ns = sack.namespace("bench")
        fill(ns, 1_000)
        asked = cycle(questions(100))
        context, recall = medians_ms(
            [
                lambda: ns.context(next(asked), budget=1000, model="cl100k_base", now=NOW),
                lambda: ns.recall(next(asked), top_k=10, now=NOW),
            ],
            runs=100,
            warmup=10,
        )
        return (f"{others + 1_000:,}", context, recall, _bytes_each(sack, "others" if others else "bench"))


def _bytes_each(sack: haversack.Haversack, namespace: str) -> int:
    core = sack._core  # noqa: SLF001 - the bench looks inside  # pyright: ignore[reportPrivateUsage]
    embedder = StaticEmbedder()
    index = Shelf(core.store, embedder, embedder, 1 << 40).view(namespace).index
    return round(index.nbytes / index.present)


def _median(ns: Namespace) -> float:
    asked = cycle(questions(100))
    return medians_ms(
        [lambda: ns.context(next(asked), budget=1000, model="cl100k_base", now=NOW)], runs=200, warmup=10, clock=WALL
    )[0]
