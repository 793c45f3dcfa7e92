"""The packer alone: candidates with prices and scores in, a counted context out."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime

from bench.options import Options
from bench.speed.corpus import NOW, times, turns
from bench.table import Cell, Table
from bench.timing import median_ms
from haversack.assemble import Candidate, assemble, layout_named, line
from haversack.assemble.frame import Format
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source
from haversack.tokens import Counter, counter_for

__all__ = ["run"]

_SIZES = (100, 1_000, 10_000)
_BUDGETS = (1_000, 8_000)
_KINDS = (Kind.FACT, Kind.SUMMARY, Kind.ENTITY, Kind.DECISION, Kind.INSIGHT, Kind.PASSAGE)
_LAYOUTS = ("flat", "sections", "attention")


def run(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    counter = counter_for("cl100k_base")
    rows: list[tuple[Cell, ...]] = []
    for size in _SIZES:
        candidates = _candidates(size, counter)
        rows += [
            (f"{size:,} candidates, {name}", *(_time(candidates, name, budget, counter) for budget in _BUDGETS))
            for name in _LAYOUTS
        ]
    yield Table(
        name="packing",
        title="Packing, median ms",
        columns=("what", *(f"budget {budget:,}" for budget in _BUDGETS)),
        rows=tuple(rows),
    )


def _time(candidates: list[Candidate], layout: str, budget: int, counter: Counter) -> float:
    chosen = layout_named(layout)
    return median_ms(
        lambda: assemble(
            candidates,
            layout=chosen,
            format=Format.MARKDOWN,
            budget=budget,
            counter=counter,
            query="What about the rollout?",
            now=NOW,
        ),
        runs=15,
    )


def _candidates(size: int, counter: Counter) -> list[Candidate]:
    """A sixth of each kind, the passages in sessions of twenty turns."""
    chance = random.Random(size)
    memories = [
        _memory(number, text, at) for number, (text, at) in enumerate(zip(turns(size), times(size), strict=True))
    ]
    prices = counter.count_many([line(memory) for memory in memories])
    return [
        Candidate(memory=memory, score=chance.random(), price=price)
        for memory, price in zip(memories, prices, strict=True)
    ]


def _memory(number: int, text: str, at: datetime) -> Memory:
    kind = _KINDS[number % len(_KINDS)]
    source = Source(session=f"session-{number // 120}") if kind is Kind.PASSAGE else Source()
    return Memory(
        id=make_id(datetime(2026, 1, 1, tzinfo=UTC), number.to_bytes(10, "big")),
        kind=kind,
        content=text,
        created_at=at,
        event_time=at,
        source=source,
    )
