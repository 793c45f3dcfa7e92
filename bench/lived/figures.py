"""From the outcome of each question to a table: means over all of them and over each half."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.lived.bank import HALVES
from bench.table import Cell, Table

__all__ = ["Outcome", "tabulate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one question."""

    labels: tuple[Cell, ...]
    """Where it counts in the table."""
    half: str
    figures: tuple[float, ...]


def tabulate(
    name: str, title: str, columns: tuple[Sequence[str], Sequence[str]], found: Iterable[Outcome], *notes: str
) -> Table:
    """Return a table with a row for each label and half; `columns` names the labels and then the figures."""
    by_label: dict[tuple[Cell, ...], list[Outcome]] = {}
    for outcome in found:
        by_label.setdefault(outcome.labels, []).append(outcome)
    labels, figures = columns
    return Table(
        name=name,
        title=title,
        columns=(*labels, "half", "questions", *figures),
        rows=tuple(row for label, outcomes in by_label.items() for row in _rows(label, outcomes)),
        notes=notes,
    )


def _rows(label: tuple[Cell, ...], outcomes: Sequence[Outcome]) -> Iterable[tuple[Cell, ...]]:
    parts = {half: [each for each in outcomes if each.half == half] for half in HALVES}
    shown = {half: part for half, part in parts.items() if part}
    for half, part in ({"all": outcomes, **shown} if len(shown) > 1 else shown).items():
        yield (
            *label,
            half,
            len(part),
            *(fmean(column) for column in zip(*(each.figures for each in part), strict=True)),
        )
