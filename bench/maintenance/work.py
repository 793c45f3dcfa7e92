"""A script for the other processes of these measurements: `fill`, `age`, `write`; each prints one line of JSON."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from haversack.engine.core import Core
from haversack.engine.haversack import Haversack
from haversack.engine.settings import Settings
from haversack.lifecycle.policy import Policy
from haversack.maintenance.ageing import age
from haversack.maintenance.run import Desk
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory
from haversack.recall import Recall
from haversack.store.port import Batch
from haversack.store.sqlite.store import SqliteStore
from haversack.tokens import counter_for

NOW = datetime(2026, 11, 1, tzinfo=UTC)
_KINDS = [Kind.PASSAGE] * 6 + [Kind.FACT] * 2 + [Kind.INSIGHT, Kind.DECISION]


def main() -> None:
    command, path = sys.argv[1], Path(sys.argv[2])
    match command:
        case "fill":
            fill(path, int(sys.argv[3]), int(sys.argv[4]))
        case "age":
            sys.stdout.write(json.dumps(age_once(path, float(sys.argv[3]))) + "\n")
        case "write":
            _write(path, float(sys.argv[3]), float(sys.argv[4]))
        case _:
            raise SystemExit(f"unknown command {command}")


def fill(path: Path, count: int, words: int) -> None:
    """A namespace of so many memories of so many words, up to 400 hours old."""
    dice = random.Random(1)
    vocabulary = [f"word{number}" for number in range(5_000)]
    store = SqliteStore(path)
    for start in range(0, count, 10_000):
        numbers = range(start, min(count, start + 10_000))
        store.apply("n", Batch(memories=tuple(_memory(dice, number, vocabulary, words) for number in numbers)))
    store.close()


def _memory(dice: random.Random, number: int, vocabulary: list[str], words: int) -> Memory:
    born = NOW - timedelta(hours=dice.random() * 400)
    return Memory(
        id=make_id(born, number.to_bytes(10, "big")),
        kind=dice.choice(_KINDS),
        content=" ".join(dice.choices(vocabulary, k=words)),
        created_at=born,
        event_time=born,
        importance=round(dice.random(), 2),
        entities=tuple(dice.choices(vocabulary, k=dice.randrange(3))),
        access_count=dice.choice((0, 0, 0, 1, 5)),
    )


def age_once(path: Path, hours: float) -> dict[str, Any]:
    """One lifecycle run, so many hours after the memories were written."""
    now = NOW + timedelta(hours=hours)
    with closing(SqliteStore(path)) as store:
        desk = Desk(store=store, namespace="n", clock=lambda: now, new_id=lambda: make_id(now, os.urandom(10)))
        begun, used = time.perf_counter(), time.process_time()
        done = age(desk, Policy(), execute=True)
        return {
            "seconds": time.perf_counter() - begun,
            "processor": time.process_time() - used,
            "changed": len(done.transitions),
            "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def open_at(path: Path) -> Haversack:
    """The engine over the store, whose clock stands at the moment of these measurements."""
    store = SqliteStore(path)
    return Haversack(
        Core(
            store=store,
            recall=Recall(store),
            embedder=None,
            settings=Settings(),
            clock=lambda: NOW,
            entropy=os.urandom,
            counter=counter_for,
        )
    )


def _write(path: Path, rate: float, seconds: float) -> None:
    """Writes at a steady rate; each line that is printed was acknowledged."""
    store = SqliteStore(path)
    begun, number = time.perf_counter(), 0
    while (now := time.perf_counter() - begun) < seconds:
        if number > now * rate:
            time.sleep(0.0005)
            continue
        made = Memory(
            id=make_id(NOW, number.to_bytes(10, "big")),
            kind=Kind.FACT,
            content=f"written {number}",
            created_at=NOW,
            event_time=NOW,
        )
        store.apply("w", Batch(memories=(made,)))
        number += 1
    store.close()
    sys.stdout.write(json.dumps({"written": number, "per_second": number / seconds}) + "\n")


if __name__ == "__main__":
    main()
