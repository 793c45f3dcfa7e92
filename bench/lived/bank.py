"""The banks of notes and questions beside this file, and which half of them is asked.

A bank is text: blocks divided by blank lines. A block's first line is its heading; each line after it opens with a
mark (`=` for what is stored, `?` and `~` for what is asked) and a space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

__all__ = ["HALVES", "Block", "half_of", "load", "select"]

HALVES = ("tune", "held")
_BANKS = Path(__file__).parent / "banks"
_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One entry of a bank."""

    heading: str
    lines: tuple[tuple[str, str], ...]
    """Each line's mark and its text."""

    def marked(self, mark: str) -> tuple[str, ...]:
        """The texts of this mark, in order."""
        return tuple(text for each, text in self.lines if each == mark)


def load(name: str) -> list[Block]:
    """Return the blocks of a bank, in order."""
    text = (_BANKS / f"{name}.txt").read_text("utf-8")
    return [_block(part.split("\n")) for part in text.strip().split("\n\n")]


def _block(rows: Sequence[str]) -> Block:
    return Block(heading=rows[0].strip(), lines=tuple((row[0], row[2:].strip()) for row in rows[1:]))


def half_of(place: int, together: int = 1) -> str:
    """Return the half of the entry at this place; `together` neighbours share theirs."""
    return HALVES[place // together % 2]


def select(entries: Sequence[_Entry], half: str, together: int = 1) -> Iterator[tuple[str, _Entry]]:
    """Yield the entries that are asked with their halves: those of `half`, or every one for `all`."""
    for place, entry in enumerate(entries):
        own = half_of(place, together)
        if half in ("all", own):
            yield own, entry
