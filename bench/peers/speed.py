"""Search speed at equal work: the top ten by the same vectors, from the question to the texts of the answers."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

import haversack
from bench.options import Options
from bench.peers.edge import Edge
from bench.peers.fts5 import Fts5
from bench.peers.hybrid import Hybrid
from bench.peers.langchain import LangChain
from bench.peers.llamaindex import VectorIndex
from bench.peers.mem0 import Mem0
from bench.peers.sqlitevec import SqliteVec
from bench.remembering import embedder
from bench.speed.corpus import NOW, questions, times, turns
from bench.system import TENANT, Piece, Retriever
from bench.table import Table
from bench.timing import median_ms
from haversack import Namespace

__all__ = ["run"]

_SIZES = (1_000, 10_000, 100_000)
_TOP = 10
_SLOW_SECONDS = 0.2
_LARGEST = {"mem0 without LLM *": 10_000}
"""Some take a quarter of an hour to load more."""


def run(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    columns: dict[str, dict[str, float]] = {}
    loading: dict[str, float] = {}
    for label, pieces in _worlds():
        for name, seconds, ms in _measure(pieces):
            columns.setdefault(name, {})[label] = ms
            loading[name] = max(loading.get(name, 0.0), len(pieces) / seconds)
            print(f"{name}, {label}: {ms:.2f} ms, loaded in {seconds:.1f} s", file=sys.stderr)
    labels = [label for label, _ in _labels()]
    rows = [(name, *(found.get(label) for label in labels), round(loading[name])) for name, found in columns.items()]
    yield Table(
        name="peer-speed",
        title="Top 10 by the same static vectors, median ms of one question in a warm store",
        columns=("system", *labels, "loaded a second"),
        rows=tuple(rows),
        notes=("loaded: texts embedded and kept, in one call, at the best size", "keeps its data on disk: *"),
    )


def _labels() -> list[tuple[str, int]]:
    return [*((f"{size:,}", size) for size in _SIZES), ("1,000 in 100,000", 100_000)]


def _worlds() -> Iterator[tuple[str, list[Piece]]]:
    for label, size in _labels():
        texts = turns(size)
        yield (
            label,
            [
                Piece(id=str(i), turn=str(i), text=text, at=at, tenant=_tenant(i) if " in " in label else TENANT)
                for i, (text, at) in enumerate(zip(texts, times(size), strict=True))
            ],
        )


def _tenant(number: int) -> str:
    return TENANT if number % 100 == 0 else f"tenant-{number % 100}"


def _peers() -> dict[str, Callable[[], Retriever]]:
    vectors = embedder("default")
    return {
        "LangChain vectors": lambda: LangChain(vectors),
        "LlamaIndex vectors": lambda: VectorIndex(vectors),
        "mem0 without LLM *": lambda: Mem0(vectors),
        "SQLite FTS5 *": Fts5,
        "reciprocal rank": lambda: Hybrid(Fts5(), LangChain(vectors)),
        "sqlite-vec *": lambda: SqliteVec(vectors),
        "Qdrant Edge *": lambda: Edge(vectors),
    }


def _measure(pieces: Sequence[Piece]) -> Iterator[tuple[str, float, float]]:
    yield from _ours(pieces)
    for name, make in _peers().items():
        if len(pieces) > _LARGEST.get(name, len(pieces)):
            continue
        retriever = make()
        start = time.perf_counter()
        retriever.load(pieces)
        seconds = time.perf_counter() - start
        asked = cycle(questions(50))
        yield name, seconds, _median(lambda peer=retriever, asked=asked: peer.search(next(asked), _TOP, TENANT))
        retriever.close()


def _ours(pieces: Sequence[Piece]) -> Iterator[tuple[str, float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/memory.db"
        seconds = _filled(store, pieces)
        with haversack.open(store, embedder="default") as sack:  # anew: nothing of the loading is still being saved
            yield from _asked(sack.namespace(TENANT), seconds)


def _filled(store: str, pieces: Sequence[Piece]) -> float:
    """Seconds that it took."""
    with haversack.open(store, embedder="default") as sack:
        start = time.perf_counter()
        by_tenant: dict[str, list[dict[str, object]]] = {}
        for piece in pieces:
            memory = {"content": piece.text, "kind": "passage", "event_time": piece.at}
            by_tenant.setdefault(piece.tenant, []).append(memory)
        for tenant, memories in by_tenant.items():
            sack.namespace(tenant).remember_many(memories)
        return time.perf_counter() - start


def _asked(ns: Namespace, seconds: float) -> Iterator[tuple[str, float, float]]:
    asked = cycle(questions(50))
    for name, weights in (("haversack by similarity *", "similarity"), ("haversack recall *", "default")):
        yield name, seconds, _median(lambda w=weights: ns.recall(next(asked), top_k=_TOP, now=NOW, weights=w))
    packed = _median(lambda: ns.context(next(asked), budget=1000, model="cl100k_base", now=NOW))
    yield "haversack context, 1,000 tokens *", seconds, packed


def _median(call: Callable[[], object]) -> float:
    """Fewer runs for what takes long."""
    start = time.perf_counter()
    call()
    slow = time.perf_counter() - start > _SLOW_SECONDS
    return median_ms(call, runs=7 if slow else 50, warmup=1 if slow else 5)
