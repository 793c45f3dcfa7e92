"""Banks of notes and the questions that ask for one of them: stored together, asked one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.lived.bank import Block
from haversack.engine.namespace import Namespace

__all__ = ["Pair", "keep", "pairs_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A question and the note that answers it."""

    topic: str
    note: str
    question: str


def pairs_of(blocks: Sequence[Block]) -> Iterator[Pair]:
    """Yield the pairs: a question belongs to the note above it."""
    for block in blocks:
        note = ""
        for mark, text in block.lines:
            if mark == "=":
                note = text
            else:
                yield Pair(topic=block.heading, note=note, question=text)


def keep(ns: Namespace, blocks: Sequence[Block]) -> Mapping[str, str]:
    """Remember every note on its own, as people do; returns the id of each."""
    return {note: ns.remember(note, metadata={"note": note}).id for block in blocks for note in block.marked("=")}
