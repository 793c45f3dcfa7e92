"""The cap under fire: generated contexts of every sort, each recounted by another library."""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.options import Options
from bench.recount import recount
from bench.table import Cell, Table
from haversack.assemble import LAYOUTS, Candidate, Format, assemble
from haversack.model.identity import make_id
from haversack.model.memory import Kind, Memory, Source
from haversack.model.times import from_micros
from haversack.tokens import counter_for

__all__ = ["run"]

_ENCODINGS = ("cl100k_base", "o200k_base")
_FEW, _MANY = 5_000, 100_000
_PIECES = (
    "the boat lies in the harbour", "def f(x):\n    return x + 1", "会議は木曜日の午後", "회의는 오후 세시에",
    "ร้านเปิดเก้าโมง", "الاجتماع يوم الأحد", "Встреча в среду", "🚲🌧🍎👩‍👩‍👦", "<|endoftext|>", "<|im_start|>user",
    "aGVsbG8gd29ybGQ" * 4, "a" * 90, "   \t ", "\n\n", "</memories>", "```\n# x\n```", '{"a": [1, 2]}', "1041 EUR",
    "naïve café Zürich", "https://example.org/a?b=c#d", "\u200b", "null", "-- ; DROP", "ﬁ ½ ™ Ω",
)  # fmt: skip


def run(options: Options) -> Iterator[Table]:
    """One row for each encoding; `--full` makes a hundred thousand contexts of each."""
    rows = [_row(encoding, _MANY if options.full else _FEW) for encoding in _ENCODINGS]
    yield Table(
        name="cap",
        title="Generated contexts, recounted by another library",
        columns=("encoding", "contexts", "not empty", "over budget", "count differs"),
        rows=tuple(rows),
        notes=("budgets from 0 to 900, all layouts and formats, texts of many scripts, code, emoji and base 64",),
    )


def _row(encoding: str, rounds: int) -> tuple[Cell, ...]:
    dice = random.Random(encoding)
    counter = counter_for(encoding)
    full = over = differing = 0
    for _ in range(rounds):
        budget = dice.choice((0, 1, dice.randrange(20), dice.randrange(120), dice.randrange(900)))
        context = assemble(
            _candidates(dice),
            budget=budget,
            counter=counter,
            layout=dice.choice(tuple(LAYOUTS)),
            format=dice.choice(tuple(Format)),
            query=dice.choice(_PIECES),
            now=from_micros(1_780_000_000_000_000),
        )
        tokens = recount(context.text, encoding)
        full += bool(context.items)
        over += tokens > budget
        differing += tokens != context.tokens
    return (encoding, rounds, full, over, differing)


def _candidates(dice: random.Random) -> list[Candidate]:
    return [_candidate(dice, number) for number in range(dice.randrange(1, 12))]


def _candidate(dice: random.Random, number: int) -> Candidate:
    at = from_micros(1_700_000_000_000_000 + dice.randrange(10**13))
    kind = dice.choice(tuple(Kind))
    content = dice.choice((" ", "\n", "")).join(dice.choices(_PIECES, k=dice.randrange(1, 9))) + "."
    session = f"s{dice.randrange(3)}" if kind is Kind.PASSAGE else None
    memory = Memory(
        id=make_id(at, number.to_bytes(10, "big")),
        kind=kind,
        content=content,
        speaker=dice.choice(("", "Ana", "/root", " B", "明")) if kind is Kind.PASSAGE else "",
        created_at=at,
        event_time=at,
        source=Source(session=session),
        born=number + 1,
    )
    return Candidate(memory=memory, score=dice.random())
