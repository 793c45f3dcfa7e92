"""Processes at work on one store file; a script, so that forking starts from a process with a single thread.

Each command prints one line of JSON: what it saw.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from haversack.errors import HaversackError
from haversack.model.memory import Stage
from haversack.store.port import Batch, Written
from haversack.store.sqlite.site import SqliteSite
from haversack.store.sqlite.store import SqliteStore
from haversack.testing.store_contract import sample_memory, sample_turn

BATCH = 7

_Seen: TypeAlias = dict[str, Any]


def main() -> None:
    command, path = sys.argv[1], Path(sys.argv[2])
    amount = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    match command:
        case "contend":
            answer = contend(path, amount)
        case "count":
            answer = count(path)
        case "crash":
            answer = crash(path, int(amount))
        case "fork":
            answer = fork_in_the_middle(path)
        case "read-only":
            answer = read_only(path)
        case "writable-again":
            answer = writable_again(path)
        case _:
            raise SystemExit(f"unknown command {command}")
    sys.stdout.write(json.dumps(answer) + "\n")


def contend(path: Path, seconds: float) -> _Seen:
    """Four writers and four readers for some seconds."""
    SqliteStore(path).close()
    ends = time.monotonic() + seconds
    writers = [_spawn(lambda worker=worker: _write_until(path, worker, ends)) for worker in range(4)]
    readers = [_spawn(lambda: _read_until(path, ends)) for _ in range(4)]
    written = [_result(each) for each in writers]
    read = [_result(each) for each in readers]
    store = SqliteStore(path)
    stored = {memory.id for memory in store.changes("n", limit=10**7).memories}
    turns = store.turns("n", "s")
    store.close()
    acknowledged = {name for each in written for name in each["ids"]}
    return {
        "errors": [each["error"] for each in [*written, *read] if each["error"]],
        "acknowledged": len(acknowledged),
        "lost": len(acknowledged - stored),
        "extra": len(stored - acknowledged),
        "positions_right": [turn.position for turn in turns] == list(range(len(turns))) and len(turns) > 0,
        "reads": [each["reads"] for each in read],
        "longest_wait": max(each["longest"] for each in written),
        "integrity": _integrity(path),
    }


def _write_until(path: Path, worker: int, ends: float) -> _Seen:
    store = SqliteStore(path)
    ids: list[str] = []
    longest = 0.0
    number = worker * 1_000_000
    while time.monotonic() < ends:
        number += 1
        started = time.monotonic()
        store.apply("n", Batch(memories=(sample_memory(number),), turns=(sample_turn(number),)))
        longest = max(longest, time.monotonic() - started)
        ids.append(sample_memory(number).id)
    store.close()
    return {"ids": ids, "longest": longest}


def _read_until(path: Path, ends: float) -> _Seen:
    store = SqliteStore(path)
    reads = since = 0
    while time.monotonic() < ends:
        changes = store.changes("n", since=since)
        numbers = [memory.changed for memory in changes.memories]
        assert numbers == list(range(since + 1, changes.upto + 1)), "a gap or a repetition in the change sequence"
        assert store.sequence("n") >= changes.upto
        since = changes.upto
        reads += 1
    store.close()
    return {"reads": reads}


def count(path: Path) -> _Seen:
    """Four processes add 50 memories each at once, two read, one rewrites all there is, as maintenance would."""
    SqliteStore(path).close()
    writers = [_spawn(lambda worker=worker: _add_fifty(path, worker)) for worker in range(4)]
    ends = time.monotonic() + 1.0
    others = [_spawn(lambda: _read_until_settled(path)) for _ in range(2)]
    others.append(_spawn(lambda: _decay_until(path, ends)))
    done = [_result(each) for each in [*writers, *others]]
    store = SqliteStore(path)
    found = [memory.id for memory in store.changes("n").memories]
    store.close()
    return {
        "rows": len(found),
        "unique_ids": len(set(found)),
        "errors": [each["error"] for each in done if each["error"]],
        "longest_wait": max(each["longest"] for each in done[:4]),
    }


def _add_fifty(path: Path, worker: int) -> _Seen:
    store = SqliteStore(path)
    longest = 0.0
    for number in range(50):
        started = time.monotonic()
        store.apply("n", Batch(memories=(sample_memory(100 * worker + number),)))
        longest = max(longest, time.monotonic() - started)
    store.close()
    return {"longest": longest}


def _read_until_settled(path: Path) -> _Seen:
    store = SqliteStore(path)
    while store.census("n").memories.get("fact", 0) < 200:
        store.changes("n")
    store.close()
    return {}


def _decay_until(path: Path, ends: float) -> _Seen:
    store = SqliteStore(path)
    while time.monotonic() < ends:
        held = store.changes("n").memories
        store.apply("n", Batch(memories=tuple(replace(memory, stage=Stage.DECAYED) for memory in held)))
    store.close()
    return {}


def crash(path: Path, rounds: int) -> _Seen:
    """A writer killed in the middle, again and again; after each time the store is opened and looked at."""
    dice = random.Random(5)
    acknowledged: set[str] = set()
    lost = halves = 0
    for turn in range(rounds):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _write_for_ever(path, turn, writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            for _ in range(dice.randrange(1, 25)):
                acknowledged.add(pipe.readline().strip())
            os.kill(child, signal.SIGKILL)
            acknowledged.update(line.strip() for line in pipe if line.endswith("\n"))
        os.waitpid(child, 0)
        store = SqliteStore(path)
        memories = store.changes("n", limit=10**7).memories
        per_batch = Counter(memory.tags[0] for memory in memories)
        turns = Counter(turn.metadata["batch"] for turn in store.turns("n", "s"))
        records = {record.key for record in store.records("n", "c", limit=10**7)}
        store.close()
        lost += len(acknowledged - per_batch.keys())
        halves += sum(count != BATCH for count in per_batch.values())
        halves += len(per_batch.keys() ^ turns.keys()) + len(per_batch.keys() ^ records)
    return {"acknowledged": len(acknowledged), "lost": lost, "halves": halves, "integrity": _integrity(path)}


def _write_for_ever(path: Path, turn: int, pipe: int) -> None:
    store = SqliteStore(path)
    number = turn * 100_000
    while True:
        name = f"{turn}/{number}"
        memories = tuple(replace(sample_memory(number + each), tags=(name,)) for each in range(BATCH))
        said = replace(sample_turn(number), metadata={"batch": name})
        store.apply(
            "n", Batch(memories=memories, turns=(said,), records=(Written(collection="c", key=name, value=b"v"),))
        )
        os.write(pipe, f"{name}\n".encode())
        number += BATCH


def fork_in_the_middle(path: Path) -> _Seen:
    """Parent and child go on with the same object after a fork; the child's exit disturbs nobody."""
    store = SqliteStore(path)
    store.apply("n", Batch(memories=(sample_memory(0),)))
    child = _spawn(lambda: _write_both(store, 1_000))
    _write_both(store, 2_000)
    done = _result(child)
    store.apply("n", Batch(memories=(sample_memory(9_000),)))
    found = len(store.changes("n").memories)
    store.close()
    return {"error": done["error"], "rows": found, "child_saw": done.get("rows"), "integrity": _integrity(path)}


def _write_both(store: SqliteStore, start: int) -> _Seen:
    for number in range(start, start + 100):
        store.apply("n", Batch(memories=(sample_memory(number),)))
    rows = len(store.changes("n").memories)
    if start == 1_000:
        store.close()
    return {"rows": rows >= 101}


def read_only(path: Path) -> _Seen:
    """Open as a user without the right to write the file or its folder."""
    with tempfile.TemporaryDirectory() as folder:
        SqliteStore(Path(folder) / "first.db").close()  # load all there is to load while that is allowed
    _become_nobody()
    store = SqliteStore(path)
    answer: _Seen = {
        "read_only": store.read_only,
        "contents": [memory.content for memory in store.changes("n").memories],
        "add": _error_of(lambda: store.apply("n", Batch(memories=(sample_memory(9),)))),
        "scrub": _error_of(store.scrub),
    }
    with tempfile.TemporaryDirectory() as folder:
        store.snapshot(Path(folder) / "copy.db")
        copy = SqliteStore(Path(folder) / "copy.db")
        answer["copied"] = len(copy.changes("n").memories)
        copy.close()
    answer["snapshot_here"] = _error_of(lambda: store.snapshot(path.with_name("copy.db")))
    answer["new_store_here"] = _error_of(lambda: SqliteStore(path.with_name("other.db")))
    store.close()
    answer["faults"] = [fault.code for fault in SqliteSite(path).examine()]
    answer["files"] = sorted(each.name for each in path.parent.iterdir())
    return answer


def writable_again(path: Path) -> _Seen:
    """Make a store of one's own read-only, read it, and take that back."""
    SqliteStore(path).close()
    if os.getuid() == 0:
        for each in (path, path.parent):
            os.chown(each, 65534, 65534)
    _become_nobody()
    path.chmod(0o444)
    reader = SqliteStore(path)
    read = (reader.read_only, len(reader.changes("n").memories))
    reader.close()
    path.chmod(0o644)
    store = SqliteStore(path)
    answer: _Seen = {"read": read, "add": _error_of(lambda: store.apply("n", Batch(memories=(sample_memory(9),))))}
    store.close()
    return answer


def _become_nobody() -> None:
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


def _error_of(call: Callable[[], object]) -> str | None:
    try:
        call()
    except HaversackError as error:
        return type(error).__name__
    return None


def _spawn(work: Callable[[], _Seen]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    try:
        answer = {"error": None, **work()}
    except BaseException:  # noqa: BLE001 - told to the parent
        answer = {"error": traceback.format_exc()}
    with os.fdopen(writing, "w") as pipe:
        json.dump(answer, pipe)
    os._exit(0)


def _result(child: tuple[int, int]) -> _Seen:
    with os.fdopen(child[1]) as pipe:
        text = pipe.read()
    os.waitpid(child[0], 0)
    return {"longest": 0.0, "ids": [], "reads": 0, **json.loads(text)}


def _integrity(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        connection.close()


if __name__ == "__main__":
    main()
