"""How much of a prompt the next turn repeats unchanged, from its first byte on: what a prompt cache can use."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from os.path import commonprefix
from statistics import mean

import haversack
from bench.history.histories import SYSTEM
from bench.options import Options
from bench.recount import recount
from bench.speed.context import fill
from bench.speed.corpus import NOW, questions, turns
from bench.table import Cell, Table

__all__ = ["run"]

_TURNS = 200
_MEMORIES = 1_000
_WINDOW = 12_000
_OUTPUT = 1_000


def run(options: Options) -> Iterator[Table]:  # noqa: ARG001 - every runner takes the options
    """A conversation of so many turns, with memories of earlier ones, prompted at each user turn."""
    yield Table(
        name="prefix",
        title=f"Prompt bytes that the next turn repeats, {_TURNS} turns, window {_WINDOW:,}, memories on",
        columns=("layout", "repeated %", "worst turn %", "mean tokens"),
        rows=tuple(_row(layout) for layout in ("cached", "attention", "sections", "flat")),
        notes=("repeated: common start of two successive prompts as JSON, of the earlier one's bytes",),
    )


def _row(layout: str) -> tuple[Cell, ...]:
    prompts = list(_prompts(layout))
    repeated = [100 * len(commonprefix([one, two])) / len(one) for one, two in pairwise(prompts)]  # noqa: RUF071 - these are no paths
    sizes = [recount(prompt) for prompt in prompts]
    return (layout, mean(repeated), min(repeated), round(mean(sizes)))


def _prompts(layout: str) -> Iterator[str]:
    said = turns(_TURNS // 2, words=60, seed=5)
    with haversack.open(":memory:", embedder="none") as sack:
        ns = sack.namespace("bench")
        fill(ns, _MEMORIES)
        session = ns.session("now")
        for question, answer in zip(questions(_TURNS // 2), said, strict=True):
            session.add("user", question, at=NOW)
            prompt = session.prompt(
                system=SYSTEM, model="cl100k_base", window=_WINDOW, output=_OUTPUT, layout=layout, now=NOW
            )
            yield json.dumps(prompt.messages("openai"))
            session.add("assistant", answer, at=NOW)
