"""A result: a titled table that prints for people and encodes as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Cell", "Table"]

Cell = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One measurement: rows under named columns."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        cells = [list(self.columns), *([_show(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [_line(row, widths) for row in cells]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([self.title, *_underlined(lines, rule), *(f"  {note}" for note in self.notes), ""])


def _underlined(lines: list[str], rule: str) -> Iterator[str]:
    yield lines[0]
    yield rule
    yield from lines[1:]


def _line(cells: list[str], widths: list[int]) -> str:
    first, *rest = (
        cell.ljust(width) if i == 0 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _show(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case float():
            return f"{cell:.1f}" if abs(cell) >= 10 else f"{cell:.2f}" if abs(cell) >= 1 else f"{cell:.3f}"
        case int():
            return f"{cell:,}"
        case str():
            return cell
