"""A load, the first question behind it, and the first answer of a new process: as usual, and after an erasure."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import haversack
from bench.options import Options
from bench.speed.corpus import NOW, questions, times, turns
from bench.table import Cell, Table
from haversack import Namespace
from haversack.model.identity import make_id
from haversack.transfer.entries import MemoryEntry

__all__ = ["run"]

_SIZES = {1_000: 15, 10_000: 5, 100_000: 1}
"""How often each is measured."""
_BATCH = 500
_FIRST = """
import time, haversack
sack = haversack.open({store!r})
start = time.perf_counter()
found = sack.namespace("bench").context({question!r}, budget=1000, model="cl100k_base", now={now!r})
print(time.perf_counter() - start, found.behind)
sack.close()
"""
_FORGET = """
import haversack
with haversack.open({store!r}) as sack:
    ns = sack.namespace("bench")
    ns.forget(ns.page(after={after}, limit=1).memories[0].id, hard=True)
"""

Load = Callable[[Namespace, int], None]


def run(_options: Options) -> Iterator[Table]:
    loads: dict[str, Load] = {"remember_many": _told, "import": _imported}
    yield Table(
        name="load",
        title=f"Loading in transactions of {_BATCH}, median s",
        columns=("memories", "by", "nothing indexed", "indexed behind it", "times"),
        rows=tuple(
            (f"{size:,}", name, *_loading(load, size, runs))
            for size, runs in _SIZES.items()
            for name, load in loads.items()
        ),
        notes=("two runs of each at least, in turn; the fastest of each counts for the times",),
    )
    yield Table(
        name="first",
        title="The first question right after a load, and the first answer of a new process",
        columns=(
            "memories",
            "first, ms",
            "changes behind",
            "whole after, s",
            "new process, ms",
            "after a hard forget, ms",
            "times",
        ),
        rows=tuple((f"{size:,}", *_first(size, runs)) for size, runs in _SIZES.items()),
        notes=("the new processes' answers are behind nothing",),
    )


def _loading(load: Load, size: int, runs: int) -> tuple[Cell, ...]:
    taken: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(max(2, runs)):
        for builds, seconds in taken.items():
            with tempfile.TemporaryDirectory() as folder, haversack.open(f"{folder}/memory.db") as sack:
                ns = _warm(sack)
                if not builds:
                    sack._core.recall._whole._builder.close()  # noqa: SLF001 - the bench looks inside  # pyright: ignore[reportPrivateUsage]
                start = time.perf_counter()
                load(ns, size)
                seconds.append(time.perf_counter() - start)
    alone, beside = taken.values()
    return (statistics.median(alone), statistics.median(beside), min(beside) / min(alone))


def _first(size: int, runs: int) -> tuple[Cell, ...]:
    asked, behind, whole = list[float](), list[int](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            with haversack.open(f"{folder}/{number}.db") as sack:
                ns = _warm(sack)
                _told(ns, size)
                start = time.perf_counter()
                found = ns.context(questions(1)[0], budget=1000, model="cl100k_base", now=NOW)
                asked.append(time.perf_counter() - start)
                behind.append(found.behind)
                ns.index()
                whole.append(time.perf_counter() - start)
        store = f"{folder}/{runs - 1}.db"
        usual = statistics.median(_in_new_process(store) for _ in range(5))
        after = statistics.median(_after_forgetting(store, number) for number in range(5))
    return (
        statistics.median(asked) * 1000,
        round(statistics.median(behind)),
        statistics.median(whole),
        usual * 1000,
        after * 1000,
        after / usual,
    )


def _warm(sack: haversack.Haversack) -> Namespace:
    """The namespace, after a question that loaded what the first one loads."""
    ns = sack.namespace("bench")
    ns.remember("warm")
    ns.context("warm", budget=1000, model="cl100k_base", now=NOW)
    return ns


def _told(ns: Namespace, size: int) -> None:
    told = list(zip(turns(size), times(size), strict=True))
    for first in range(0, size, _BATCH):
        batch = told[first : first + _BATCH]
        ns.remember_many({"content": text, "event_time": at, "kind": "passage"} for text, at in batch)


def _imported(ns: Namespace, size: int) -> None:
    told = enumerate(zip(turns(size), times(size), strict=True))
    ns.bring_in(
        MemoryEntry(id=make_id(at, number.to_bytes(10, "big")), kind=haversack.Kind.PASSAGE, content=text, at=at)
        for number, (text, at) in told
    )


def _in_new_process(store: str) -> float:
    seconds, behind = _run(_FIRST.format(store=store, question=questions(1)[0], now=NOW.isoformat())).split()
    if behind != "0":
        raise SystemExit(f"a new process answered {behind} changes behind")
    return float(seconds)


def _after_forgetting(store: str, number: int) -> float:
    _run(_FORGET.format(store=store, after=100 * number))
    return _in_new_process(store)


def _run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
