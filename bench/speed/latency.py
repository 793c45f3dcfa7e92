"""What a store that answers late costs: many threads on one namespace, and warm calls with a delay on every trip."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import cycle
from random import SystemRandom
from typing import cast

from bench.options import Options
from bench.speed.context import fill
from bench.speed.corpus import NOW, questions
from bench.table import Cell, Table
from bench.timing import WALL, medians_ms
from haversack import Namespace
from haversack.embed.static import StaticEmbedder
from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Settings
from haversack.recall import Recall
from haversack.store.memory import MemoryStore
from haversack.store.port import Store
from haversack.tokens import counter_for

__all__ = ["Late", "threads", "trips"]

_SIZE = 1_000
_SMALL = 200
"""Memories whose search leaves the processor idle for most of a late call."""
_CALLS = 40
_SLOW, _NEAR = 0.005, 0.0003
_LAYOUTS = ("flat", "sections", "attention", "cached")


class Late:
    """A store whose every answer comes so many seconds later."""

    def __init__(self, store: Store) -> None:
        self.seconds = 0.0
        self._store = store

    def __getattr__(self, name: str) -> object:
        found = getattr(self._store, name)
        if not callable(found):
            return found

        def late(*values: object, **named: object) -> object:
            time.sleep(self.seconds)
            return found(*values, **named)

        return late


def threads(_: Options) -> Iterator[Table]:
    """One thread's work against so many times the work by so many threads, on one namespace and on one each."""
    store = Late(MemoryStore())
    sack = _opened(store)
    spaces = [sack.namespace(f"bench{number}") for number in range(8)]
    for ns in spaces:
        fill(ns, _SMALL)
    rows: list[tuple[Cell, ...]] = []
    for count in (1, 2, 4, 8):
        store.seconds = 0.0
        plain = (_at_once(spaces[:1] * count), _at_once(spaces[:count]))
        store.seconds = _SLOW
        late = (_at_once(spaces[:1] * count), _at_once(spaces[:count]))
        rows.append((count, *plain, *late))
    first = cast("tuple[float, ...]", rows[0][1:])
    yield Table(
        name="threads",
        title=f"{_CALLS} calls of recall by each thread: time, as a multiple of one thread's",
        columns=("threads", "one namespace", "one each", "one namespace, 5 ms a trip", "one each, 5 ms a trip"),
        rows=tuple(
            (row[0], *(cast("float", cell) / one for cell, one in zip(row[1:], first, strict=True))) for row in rows
        ),
        notes=(
            f"{_SMALL} memories, default embedder, in-memory store",
            "one thread takes " + ", ".join(f"{1000 * each / _CALLS:.1f}" for each in first) + " ms a call",
        ),
    )


def trips(_: Options) -> Iterator[Table]:
    """Warm calls with and without a delay on every trip to the store."""
    store = Late(MemoryStore())
    ns = _opened(store).namespace("bench")
    fill(ns, _SIZE)
    session = ns.session("talk")
    session.extend([{"role": "user", "content": text} for text in questions(20)])
    asked = cycle(questions(100))

    def context(layout: str) -> Callable[[], object]:
        return lambda: ns.context(next(asked), layout=layout, budget=1000, model="cl100k_base", now=NOW)

    calls: dict[str, Callable[[], object]] = {
        "recall": lambda: ns.recall(next(asked), top_k=10, now=NOW),
        **{f"context, {layout}": context(layout) for layout in _LAYOUTS},
        "prompt": lambda: session.prompt(next(asked), window=4000, output=500, model="cl100k_base", now=NOW),
    }
    taken: list[list[float]] = []
    for seconds in (0.0, _NEAR, 0.0, _NEAR):
        store.seconds = seconds
        taken.append(medians_ms(list(calls.values()), runs=100, warmup=100, clock=WALL))
    yield Table(
        name="trips",
        title="A warm call, median ms, with a store that answers at once and one that takes .3 ms more for each trip",
        columns=("call", "at once", "late", "times"),
        rows=tuple(
            (name, min(first, third), min(second, fourth), min(second, fourth) / min(first, third))
            for name, first, second, third, fourth in zip(calls, *taken, strict=True)
        ),
        notes=(f"{_SIZE:,} memories, default embedder, in-memory store; every question was asked before",),
    )


def _opened(store: Late) -> Haversack:
    embedder, entropy = StaticEmbedder(), SystemRandom()
    port = cast("Store", store)
    return Haversack(
        Core(
            store=port,
            recall=Recall(port, embedder),
            embedder=embedder,
            settings=Settings(),
            clock=lambda: datetime.now(UTC),
            entropy=entropy.randbytes,
            counter=counter_for,
        )
    )


def _at_once(spaces: list[Namespace]) -> float:
    """Seconds until each of so many threads has made its calls on its namespace; the best of three."""

    def work(ns: Namespace) -> None:
        for query in questions(_CALLS):
            ns.recall(query, top_k=10, now=NOW)

    for ns in spaces:
        work(ns)
    with ThreadPoolExecutor(len(spaces)) as pool:
        taken: list[float] = []
        for _ in range(3):
            start = time.perf_counter()
            list(pool.map(work, spaces))
            taken.append(time.perf_counter() - start)
    return min(taken)
