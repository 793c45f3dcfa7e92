"""The itemised account of a context or a prompt: every token has a line, and the lines add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["Ledger", "Line", "Measure", "settle"]


class Measure(StrEnum):
    """How a line's tokens were measured; the same words as a counter's kinds."""

    EXACT = "exact"
    RECONSTRUCTED = "reconstructed"
    ESTIMATE = "estimate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One entry."""

    name: str
    tokens: int
    measure: Measure = Measure.EXACT
    items: int = 0
    """How many messages, schemas or memories it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Lines whose tokens add up to `total`, against a budget."""

    lines: tuple[Line, ...]
    budget: int
    reserved: int = 0
    """Kept free for the answer."""

    @property
    def total(self) -> int:
        """Tokens of all lines: what is really sent."""
        return sum(line.tokens for line in self.lines)

    @property
    def spare(self) -> int:
        """What is left of the budget; negative only in the ledger that a BudgetError carries."""
        return self.budget - self.reserved - self.total

    @property
    def exact(self) -> bool:
        """Whether every line is an exact count."""
        return all(line.measure is Measure.EXACT for line in self.lines)

    def tokens(self, name: str) -> int:
        """Tokens of the lines of this name, or below it (`tools` covers `tools/search`); 0 when there is none."""
        return sum(line.tokens for line in self.lines if line.name == name or line.name.startswith(f"{name}/"))

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON."""
        return {
            "budget": self.budget,
            "total": self.total,
            "output_reserve": self.reserved,
            "spare": self.spare,
            "lines": [
                {"name": line.name, "tokens": line.tokens, "measure": str(line.measure), "items": line.items}
                for line in self.lines
            ],
        }

    def __str__(self) -> str:
        rows = [(line.name, line.tokens, _note(line)) for line in self.lines]
        rows.append(("total", self.total, ""))
        if self.reserved:
            rows.append(("output reserve", self.reserved, "kept free"))
        rows += [("spare", self.spare, ""), ("budget", self.budget, "")]
        return "\n".join(_table(rows))


def settle(lines: Iterable[Line], total: int, measure: Measure) -> tuple[Line, ...]:
    """The lines made to add up to a fresh count of the whole.

    What no line stands for becomes a `framing` line. Bounds of parts can exceed the bound of the whole; then the
    largest lines give way.
    """
    settled = [line for line in lines if line.tokens > 0]
    difference = total - sum(line.tokens for line in settled)
    if difference > 0:
        settled.append(Line(name="framing", tokens=difference, measure=measure))
    while difference < 0:
        place = max(range(len(settled)), key=lambda number: settled[number].tokens)
        given = min(-difference, settled[place].tokens)
        settled[place] = replace(settled[place], tokens=settled[place].tokens - given)
        difference += given
    return tuple(settled)


def _note(line: Line) -> str:
    notes = [f"{line.items} item{'s' * (line.items != 1)}"] if line.items else []
    if line.measure is not Measure.EXACT:
        notes.append(str(line.measure))
    return ", ".join(notes)


def _table(rows: Iterable[tuple[str, int, str]]) -> list[str]:
    cells = [(name, f"{tokens:,}", note) for name, tokens, note in rows]
    wide = max(len(name) for name, _, _ in cells)
    digits = max(len(tokens) for _, tokens, _ in cells)
    return [f"{name:<{wide}}  {tokens:>{digits}}  {note}".rstrip() for name, tokens, note in cells]
