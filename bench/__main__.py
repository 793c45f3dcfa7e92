"""`python -m bench [NAME ...]` prints tables; `--json FILE` also writes them with the machine's description."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from bench.options import Options
from bench.table import Table
from bench.timing import machine, use_processor_time

ALONE = {
    "import": "bench.speed.start:import_time",
    "start": "bench.speed.start:commands",
    "install": "bench.speed.start:install_size",
    "packing": "bench.speed.packing:run",
    "optimum": "bench.speed.optimum:run",
    "cap": "bench.speed.cap:run",
    "context": "bench.speed.context:run",
    "warm": "bench.speed.warm:run",
    "index": "bench.speed.index:run",
    "nearest": "bench.speed.nearest:run",
    "writing": "bench.speed.writing:run",
    "load": "bench.speed.load:run",
    "write": "bench.speed.write:run",
    "threads": "bench.speed.latency:threads",
    "trips": "bench.speed.latency:trips",
    "reads": "bench.speed.reads:run",
    "maintenance": "bench.maintenance.run:run",
    "prefix": "bench.history.prefix:run",
    "compaction": "bench.compaction.evidence:run",
    "planted": "bench.compaction.planted:run",
    "watching": "bench.compaction.watching:run",
    "recall": "bench.peers.recall:ours_alone",
    "growth": "bench.growth.run:measure",
    "server": "bench.server.load:run",
    "mcp": "bench.mcp.cost:run",
    "changes": "bench.truth.changes:run",
}
"""What runs in the project's own environment."""
LIVED = {
    "facts": "bench.lived.facts:run",
    "now": "bench.lived.now:run",
    "numbers": "bench.lived.numbers:run",
    "scripts": "bench.lived.scripts:run",
    "nonsense": "bench.lived.nonsense:run",
    "prompts": "bench.lived.prompts:run",
}
"""What people live on beside turns, in sets of our own; minutes each, so asked for by name."""
BESIDE = {
    "peers": "bench.peers.recall:run",
    "peer-speed": "bench.peers.speed:run",
    "seeds": "bench.seeds.compare:run",
    "history": "bench.history.compare:run",
}
"""What needs the peers' environment: `make bench-peers`."""
_ALL = ALONE | LIVED | BESIDE


def main() -> None:
    asked = _arguments()
    if asked.cpu:
        use_processor_time()
    options = Options(
        data=Path(os.environ.get("HAVERSACK_DATA", "../shared/data")),
        conversations=asked.conversations,
        full=asked.full,
        vectors=Path(asked.vectors) if asked.vectors else None,
        half=asked.half,
        locomo=asked.locomo,
        beam=asked.beam,
        memdaily=tuple(asked.memdaily),
        beside=Path(asked.beside) if asked.beside else None,
        **({"embedders": tuple(asked.embedders.split(","))} if asked.embedders else {}),
    )
    tables: list[Table] = []
    for name in asked.names or list(ALONE):
        start = time.perf_counter()
        for table in _run(name, options):
            tables.append(table)
            print(table, flush=True)
        print(f"({name}: {time.perf_counter() - start:.0f} s)\n", file=sys.stderr)
    print(", ".join(f"{key} {value}" for key, value in machine().items()))
    if asked.json:
        Path(asked.json).write_text(
            json.dumps({"machine": machine(), "tables": [asdict(table) for table in tables]}, indent=1) + "\n", "utf-8"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*_ALL, []], metavar="NAME", help=", ".join(_ALL))
    parser.add_argument("--json", metavar="FILE", help="write the tables and the machine's description")
    parser.add_argument("--conversations", type=int, metavar="N", help="only the first N conversations of each set")
    parser.add_argument("--embedders", metavar="A,B", help="of none, default, onnx")
    parser.add_argument("--vectors", metavar="FOLDER", help="keep the vectors of texts here between runs")
    parser.add_argument("--half", choices=("all", "tune", "held"), default="all", help="of the sets in bench/lived")
    parser.add_argument("--locomo", metavar="FILE", type=Path, help="real chats for the sets in bench/lived")
    parser.add_argument("--beam", metavar="FILE", type=Path, help="real assistant logs for them")
    parser.add_argument("--memdaily", metavar="FILE", type=Path, nargs="*", default=[], help="with scripts: MemDaily")
    parser.add_argument(
        "--beside", metavar="SRC", help="also measure the code in this `src` of another checkout (warm)"
    )
    parser.add_argument("--cpu", action="store_true", help="time calls by processor time, on a busy machine")
    parser.add_argument("--full", action="store_true", help="also a million memories")
    return parser.parse_args()


def _run(name: str, options: Options) -> Iterable[Table]:
    module, function = _ALL[name].split(":")
    try:
        runner = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        raise SystemExit(f"{name} needs {error.name!r}, which is not installed here: use `make bench-peers`") from None
    return runner(options)


if __name__ == "__main__":
    main()
