"""Overshoot, orphans and time per call on the same histories at the same windows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import haversack
from bench.history.histories import History, Message, histories
from bench.history.judge import orphans, tokens
from bench.options import Options
from bench.peers.trimmers import TRIMMERS
from bench.recount import ENCODING
from bench.table import Cell, Table
from bench.timing import median_ms
from haversack.assemble import ModelPricer, trim
from haversack.model.message import Message as HistoryMessage
from haversack.tokens import counter_for
from haversack.wire import openai

__all__ = ["run"]

_BUDGETS = (2_000, 8_000)
_OUTPUT = 500

Trim = Callable[[Sequence[Message], int], Callable[[], list[Message]]]


def run(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    trimmers: dict[str, Trim] = {"haversack trim": _trim, "haversack Session.prompt": _prompt} | TRIMMERS
    for history in histories():
        yield Table(
            name=f"history-{history.name.replace(' ', '-')}",
            title=f"History: {history.name}, {len(history.messages)} messages, {tokens(history.messages):,} tokens",
            columns=("system", *(f"{what} @{budget}" for budget in _BUDGETS for what in ("used", "faults", "ms"))),
            rows=tuple(_row(name, trim, history) for name, trim in trimmers.items()),
            notes=(
                "used: tokens of the result by an independent count; more than the budget is an overshoot",
                "faults: results or calls without their counterpart, or a first message that is not the user's",
            ),
        )


def _row(name: str, trim: Trim, history: History) -> tuple[Cell, ...]:
    return (name, *(cell for budget in _BUDGETS for cell in _cells(trim, history, budget)))


def _cells(trim: Trim, history: History, budget: int) -> tuple[Cell, Cell, Cell]:
    try:
        call = trim(history.messages, budget)
        start = time.perf_counter()
        kept = call()
        slow = time.perf_counter() - start > 0.2
    except ValueError as error:
        return (f"refused: {str(error)[:30]}", None, None)
    return tokens(kept), orphans(kept), median_ms(call, runs=5 if slow else 30, warmup=1)


def _trim(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    """The function alone, on messages in memory, as the others have them; the reply's own framing is left room for."""
    counter = counter_for(ENCODING)
    pricer = ModelPricer(counter=counter)
    messages = [openai.load(message) for message in history]

    def price(some: Sequence[HistoryMessage]) -> list[int]:
        return [cost.total for cost in pricer.messages(some)]

    def call() -> list[Message]:
        kept = trim(messages, budget - pricer.reply, price=price, counter=counter)
        return cast("list[Message]", openai.dump(kept.messages))

    return call


def _prompt(history: Sequence[Message], budget: int) -> Callable[[], list[Message]]:
    """The whole prompt from a store: its view, the trimming, the ledger and a final count; memories get no tokens."""
    system, rest = history[0], history[1:]
    session = haversack.open(":memory:", embedder="none").namespace("bench").session("s")
    session.extend(dict(message) for message in rest)

    def prompt() -> list[Message]:
        made = session.prompt(
            system=system["content"], model=ENCODING, window=budget + _OUTPUT, output=_OUTPUT, budget=0
        )
        return cast("list[Message]", made.messages("openai"))

    return prompt
