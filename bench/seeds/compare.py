"""Value carried, overshoot, empty headers and lost sections at the same budget on the same items."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import haversack
from bench.evidence import words_of
from bench.options import Options
from bench.peers.friday import friday
from bench.recount import ENCODING, recount
from bench.seeds.greedy import greedy
from bench.seeds.material import COUNTS, NOW, QUESTION, Material, generate
from bench.table import Table

__all__ = ["run"]

_CASES = 20
_BUDGETS = (300, 1000, 2000)
_FRAME = re.compile(r"</?\w+>$|\| Fact \|$|\|-+\|$|\s*\.\.\. \(truncated")
"""Lines that hold no item: tags, the head of a table, and the word that something was cut."""

Packer = Callable[[Material, int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    value: float
    over: int
    empty_headers: int
    lost_sections: int


def run(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    cases = generate(_CASES)
    packers: dict[str, Packer] = {
        "haversack sections": _ours("sections"),
        "haversack attention": _ours("attention"),
        "first seed (friday-framework-memory)": friday,
        "third seed (greedy by priority)": partial(greedy, count=recount),
    }
    for budget in _BUDGETS:
        yield Table(
            name=f"seeds-{budget}",
            title=f"Nine kinds, {budget:,} tokens, {_CASES} cases",
            columns=("system", "value carried %", "over budget", "worst", "empty headers", "lost sections of 9"),
            rows=tuple(_row(name, [_look(case, budget, pack) for case in cases]) for name, pack in packers.items()),
            notes=("value: importance of the items that stand in the text in full, of all items",),
        )


def _row(name: str, outcomes: Sequence[_Outcome]) -> tuple[str | float | int, ...]:
    mean = len(outcomes)
    return (
        name,
        100 * sum(outcome.value for outcome in outcomes) / mean,
        sum(outcome.over > 0 for outcome in outcomes),
        max(outcome.over for outcome in outcomes),
        sum(outcome.empty_headers for outcome in outcomes),
        sum(outcome.lost_sections for outcome in outcomes) / mean,
    )


def _look(material: Material, budget: int, pack: Packer) -> _Outcome:
    text = pack(material, budget)
    words = f" {' '.join(words_of(text))} "
    carried = [item for item in material.items if f" {' '.join(words_of(item.text))} " in words]
    return _Outcome(
        value=sum(item.importance for item in carried) / sum(item.importance for item in material.items),
        over=max(0, recount(text) - budget),
        empty_headers=_empty_headers(text),
        lost_sections=len(COUNTS) - len({item.kind for item in carried}),
    )


def _empty_headers(text: str) -> int:
    """Titles with nothing but another title, a tag or the end behind them."""
    lines = [line for line in text.split("\n") if line.strip() and not _FRAME.match(line)]
    is_title = [line.startswith("## ") for line in lines]
    return sum(title and following for title, following in pairwise([*is_title, True]))


def _ours(layout: str) -> Packer:
    def pack(material: Material, budget: int) -> str:
        with haversack.open(":memory:") as sack:
            ns = sack.namespace("bench")
            ns.remember_many(
                {"content": item.text, "kind": item.kind, "importance": item.importance, "event_time": item.at}
                for item in material.items
            )
            return ns.context(QUESTION, budget=budget, model=ENCODING, layout=layout, now=NOW).text

    return pack
