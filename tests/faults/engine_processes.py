"""Whole engines at work on one store file: each process opens it, writes or asks, and says what was acknowledged.

`python tests/faults/engine_processes.py contend PATH 500` has four writers write 500 pairs each beside four readers.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import haversack


def main() -> None:
    command, path = sys.argv[1], Path(sys.argv[2])
    amount = int(sys.argv[3])
    match command:
        case "write":
            write(path, amount)
        case "read":
            read(path, amount)
        case "contend":
            say(contend(path, amount, workers=4))
        case "crash":
            say(crash(path, amount))
        case _:
            raise SystemExit(f"unknown command {command}")


def say(line: object) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def write(path: Path, pairs: int) -> None:
    """Remember and append so many times; each acknowledged pair is one line."""
    with haversack.open(path) as sack:
        ns = sack.namespace("shared")
        session = ns.session(f"s{random.randrange(3)}")
        for _ in range(pairs):
            fact = ns.remember(f"fact {random.getrandbits(60)} about tea", kind="insight")
            turn = session.add("user", f"said {random.getrandbits(60)} about tea")
            say([fact.id, turn.id])


def read(path: Path, questions: int) -> None:
    """Ask so many times; every answer must keep the cap."""
    with haversack.open(path) as sack:
        ns = sack.namespace("shared")
        for _ in range(questions):
            assert ns.context("tea", budget=200).tokens <= 200
    say(questions)


def contend(path: Path, pairs: int, workers: int) -> dict[str, Any]:
    haversack.open(path).close()
    writers = [_start("write", path, pairs) for _ in range(workers)]
    readers = [_start("read", path, 5 * pairs) for _ in range(workers)]
    written = [tuple(json.loads(line)) for each in writers for line in _lines(each)]
    answers = [json.loads(line) for each in readers for line in _lines(each)]
    return {"acknowledged": len(written), "lost": _missing(path, written), "answers": answers}


def crash(path: Path, rounds: int) -> dict[str, Any]:
    """A writer killed after some acknowledgements, again and again."""
    dice = random.Random(7)
    pairs: list[tuple[str, str]] = []
    for _ in range(rounds):
        writer = _start("write", path, 1_000_000)
        assert writer.stdout is not None
        pairs += [tuple(json.loads(writer.stdout.readline())) for _ in range(dice.randrange(1, 12))]
        writer.kill()
        rest = writer.stdout.read().splitlines(keepends=True)
        pairs += [tuple(json.loads(line)) for line in rest if line.endswith("\n")]
        writer.wait()
    with haversack.open(path) as sack:
        ns = sack.namespace("shared")
        turns = {turn.id for info in ns.sessions() for turn in ns.session(info.id).turns()}
        spoken = {hit.memory.source.turns[0] for hit in ns.recall("tea said", kinds=["passage"], top_k=100_000)}
    return {"acknowledged": len(pairs), "lost": _missing(path, pairs), "halves": len(turns ^ spoken)}


def _missing(path: Path, pairs: list[tuple[str, str]]) -> int:
    with haversack.open(path) as sack:
        ns = sack.namespace("shared")
        facts = {hit.id for hit in ns.recall("tea", kinds=["insight"], top_k=1_000_000)}
        turns = {turn.id for info in ns.sessions() for turn in ns.session(info.id).turns()}
    return sum(fact not in facts or turn not in turns for fact, turn in pairs)


def _start(command: str, path: Path, amount: int) -> subprocess.Popen[str]:
    program = [sys.executable, __file__, command, str(path), str(amount)]
    return subprocess.Popen(program, stdout=subprocess.PIPE, text=True)


def _lines(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return out.splitlines()


if __name__ == "__main__":
    main()
