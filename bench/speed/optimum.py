"""How far packing is from the best that there is: an exact knapsack over the same prices and worths."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from statistics import mean

from bench.options import Options
from bench.speed.corpus import NOW, turns
from bench.table import Cell, Table
from haversack.assemble import Candidate, assemble, line
from haversack.assemble.layout import LAYOUTS
from haversack.assemble.order import entry_order
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory
from haversack.tokens import Counter, counter_for

__all__ = ["run"]

_BUDGETS = (100, 300, 1_000, 3_000)
_CANDIDATES = 200
_ROUNDS = 20
_LENGTHS = {"short turns": (5, 40), "long turns": (60, 250), "mixed": (5, 250)}


def run(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    """Facts in the flat layout, so that nothing but prices and worths decides."""
    counter = counter_for("cl100k_base")
    rows: list[tuple[Cell, ...]] = []
    for name, words in _LENGTHS.items():
        for budget in _BUDGETS:
            parts = [_part(_candidates(seed, words, counter), budget, counter) for seed in range(_ROUNDS)]
            rows.append((f"{name}, budget {budget:,}", 100 * mean(parts), 100 * min(parts)))
    yield Table(
        name="optimum",
        title=f"Value carried, % of the exact optimum, {_CANDIDATES} candidates, {_ROUNDS} rounds",
        columns=("what", "mean", "worst"),
        rows=tuple(rows),
        notes=("the optimum takes whole items only; a long item that was shortened can carry more than it",),
    )


def _part(candidates: Sequence[Candidate], budget: int, counter: Counter) -> float:
    prices = [candidate.price or 0 for candidate in candidates]
    everything = range(len(candidates))
    entry = entry_order(candidates, everything, layout=LAYOUTS["flat"], section=[0] * len(prices), prices=prices)
    best = _best(prices, [price * entry.worth[item] for item, price in enumerate(prices)], budget)
    return assemble(candidates, budget=budget, counter=counter, now=NOW).value / best if best else 1.0


def _best(prices: Sequence[int], values: Sequence[float], budget: int) -> float:
    """The knapsack by dynamic programming over tokens."""
    reached = [0.0] * (budget + 1)
    for price, value in zip(prices, values, strict=True):
        for room in range(budget, price - 1, -1):
            reached[room] = max(reached[room], reached[room - price] + value)
    return reached[budget]


def _candidates(seed: int, words: tuple[int, int], counter: Counter) -> list[Candidate]:
    chance = random.Random(seed)
    memories = [
        Memory(
            id=make_id(NOW, number.to_bytes(10, "big")),
            kind=Kind.FACT,
            content=" ".join([str(number), *text.split()[: chance.randint(*words)]]),
            created_at=NOW,
            event_time=NOW,
        )
        for number, text in enumerate(turns(_CANDIDATES, words=words[1], seed=seed))
    ]
    prices = counter.count_many([line(memory) for memory in memories])
    return [
        Candidate(memory=memory, score=chance.random(), price=price)
        for memory, price in zip(memories, prices, strict=True)
    ]
