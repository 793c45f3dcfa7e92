"""Ten compactions in a row of a 1,000-turn session: how many planted facts a context of 2,000 tokens still carries."""

from __future__ import annotations

import random
from collections.abc import Iterator

import haversack
from bench.options import Options
from bench.table import Cell, Table

__all__ = ["run"]

_TURNS = 1_000
_ROUNDS = 10
_EVERY = 10
_NAMES = ("Alice", "Boris", "Chen", "Dora", "Emil", "Fatima", "Goran", "Hana", "Igor", "Julia")
_THINGS = ("bicycle", "invoice", "shed", "server", "violin", "passport", "boiler", "kayak", "tent", "camera", "oven")
_TALK = (
    "Sounds good to me, let us see how it goes.",
    "I was thinking about the weather again, it never stops raining here.",
    "Okay, thanks for the quick answer, that helps a lot.",
    "Hm, not sure, maybe we should look at it again later this week.",
    "Right, and the other thing was already done, as far as I know.",
)


def run(_: Options) -> Iterator[Table]:
    """With and without compaction, by words alone and without any model."""
    yield Table(
        name="compaction-planted",
        title=f"{_ROUNDS} compactions of {_TURNS:,} turns: planted facts in a context of 2,000 tokens",
        columns=("", "facts carried", "of", "turns in the prompt's history", "turns behind summaries"),
        rows=tuple(_row(compacted=compacted) for compacted in (False, True)),
    )


def _row(*, compacted: bool) -> tuple[Cell, ...]:
    said, facts = _conversation()
    with haversack.open(":memory:", embedder="none") as sack:
        ns = sack.namespace()
        session = ns.session("talk")
        size = _TURNS // _ROUNDS
        for start in range(0, _TURNS, size):
            roles = (("user", "assistant")[place % 2] for place in range(size))
            part = said[start : start + size]
            session.extend([{"role": role, "content": text} for role, text in zip(roles, part, strict=True)])
            if compacted:
                session.compact()
        folded = [len(memory.source.turns) for memory in ns.everything(kinds="summary")]
        carried = sum(answer in ns.context(question, budget=2000).text for question, answer in facts)
    return ("compacted" if compacted else "as said", carried, len(facts), _TURNS - sum(folded), sum(folded))


def _conversation() -> tuple[list[str], list[tuple[str, str]]]:
    chance = random.Random(3)
    said: list[str] = []
    facts: list[tuple[str, str]] = []
    for number in range(_TURNS):
        if number % _EVERY != _EVERY // 2:
            said.append(f"{chance.choice(_TALK)} {chance.choice(_TALK)}")
            continue
        what = f"the {chance.choice(_THINGS)} of {chance.choice(_NAMES)} number {number}"
        said.append(f"The code of {what} is {chance.randint(1000, 9999)}.")
        facts.append((f"What is the code of {what}?", said[-1]))
    return said, facts
