"""The same memories and questions over HTTP to Haversack and to mcp-memory-service, with the same embedder.

The rival wants a Python whose SQLite loads extensions: `DIR/bin/pip install mcp-memory-service==12.4.0` for such a one,
then `python -m bench.server.beside DIR/bin/python`. Both keep an SQLite file and ask for a key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import haversack
from bench.server.load import serving
from bench.server.wire import Request, drive
from bench.speed.corpus import questions, turns
from bench.table import Cell, Table

_MEMORIES, _REQUESTS = 2_000, 300
_AT_ONCE = (1, 4, 16)
_PORT = 8811
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Side:
    """One server and how it is asked."""

    name: str
    port: int
    store: Callable[[str], Request]
    search: Callable[[str], Request]


def main() -> None:
    rows: list[tuple[Cell, ...]] = []
    with tempfile.TemporaryDirectory() as folder, _ours(Path(folder)) as ours, _theirs(Path(folder)) as theirs:
        sides = (ours, theirs)
        texts = turns(_MEMORIES + _REQUESTS * len(_AT_ONCE))
        for side in sides:
            asyncio.run(drive(side.port, [side.store(text) for text in texts[:_MEMORIES]], 4))
        for number, at_once in enumerate(_AT_ONCE):
            start = _MEMORIES + number * _REQUESTS
            for side in sides:
                asked = [side.search(question) for question in islice(cycle(questions(100)), _REQUESTS)]
                rows.append(_row(side, "recall 10", at_once, asked))
            fresh = texts[start : start + _REQUESTS]
            rows += [_row(side, "remember", at_once, [side.store(text) for text in fresh]) for side in sides]
    print(
        Table(
            name="server-beside",
            title=f"Over HTTP beside mcp-memory-service 12.4.0: {_MEMORIES:,} memories, same embedder",
            columns=("verb", "server", "at once", "per second", "p50 ms", "p95 ms", "p99 ms", "refused"),
            rows=tuple(rows),
        )
    )


def _row(side: Side, verb: str, at_once: int, requests: list[Request]) -> tuple[Cell, ...]:
    timing = asyncio.run(drive(side.port, requests, at_once))
    return verb, side.name, at_once, timing.per_second, *(timing.at(part) for part in (0.5, 0.95, 0.99)), timing.refused


@contextmanager
def _ours(folder: Path) -> Generator[Side]:
    store = folder / "ours.db"
    with haversack.open(store) as sack:
        key = sack.keys.create("bench", scope="admin").secret
    where = "/v1/namespaces/bench"
    with serving(store) as (port, _):
        yield Side(
            "haversack",
            port,
            lambda text: Request.post(f"{where}/memories", {"content": text}, key),
            lambda question: Request.post(f"{where}/recall", {"query": question, "top_k": 10}, key),
        )


@contextmanager
def _theirs(folder: Path) -> Generator[Side]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": f"{_ROOT}/bench/server/stand_in:{_ROOT}/src:{os.environ.get('RIVAL_PATH', '')}",
        "MCP_MEMORY_USE_ONNX": "0",
        "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
        "MCP_MEMORY_SQLITE_PATH": str(folder / "theirs.db"),
        "MCP_HTTP_ENABLED": "true",
        "MCP_HTTP_PORT": str(_PORT),
        "MCP_HTTP_HOST": "127.0.0.1",
        "MCP_API_KEY": "bench",
        "MCP_MDNS_ENABLED": "false",
        "MCP_SEMANTIC_DEDUP_ENABLED": "false",
    }
    words = [sys.argv[1], "-m", "mcp_memory_service.cli.main", "server", "--http"]
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(f"http://127.0.0.1:{_PORT}/api/health")
        yield Side(
            "mcp-memory-service",
            _PORT,
            lambda text: Request.post("/api/memories", {"content": text}, "bench"),
            lambda question: Request.post("/api/search", {"query": question, "n_results": 10}, "bench"),
        )
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(address: str) -> None:
    for _ in _for_a_minute():
        with (
            contextlib.suppress(OSError, urllib.error.URLError),
            urllib.request.urlopen(address, timeout=2) as answered,  # noqa: S310 - loopback
        ):
            json.load(answered)
            return
    raise SystemExit("the rival did not start")


def _for_a_minute() -> Iterator[float]:
    end = time.monotonic() + 60
    while (now := time.monotonic()) < end:
        yield now
        time.sleep(0.5)


if __name__ == "__main__":
    main()
