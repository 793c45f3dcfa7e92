"""A picture that can be saved: recall against budget, one line for each system, as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from haversack.evaluation.measure import Scores

__all__ = ["draw"]

_WIDTH, _HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 190, 40, 50
_LINE = 15
_COLOURS = ("#0b6e4f", "#c44900", "#3d5a98", "#8a4f9e", "#7a6a00", "#b3315f", "#4a4a4a", "#008a9a")


def draw(systems: Sequence[Scores], title: str) -> str:
    """The chart; budgets stand on a logarithmic scale, recall from 0 to 100 %."""
    budgets = sorted({score.budget for system in systems for score in system.by_budget})
    parts = [_frame(title), *_recall_lines(), *(_budget_mark(budget, budgets) for budget in budgets)]
    heights = _label_heights([system.by_budget[-1].recall if system.by_budget else 0.0 for system in systems])
    parts += [_curve(system, place, budgets, heights[place]) for place, system in enumerate(systems)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{escape(title)}</title>'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
        f'<text x="{_LEFT}" y="22" font-size="15" fill="#1a1a1a">{escape(title)}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 12}" fill="#555">budget in tokens</text>'
    )


def _x(budget: int, budgets: Sequence[int]) -> float:
    low, high = math.log(max(1, budgets[0])), math.log(max(2, budgets[-1]))
    share = 0.5 if high <= low else (math.log(max(1, budget)) - low) / (high - low)
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(recall: float) -> float:
    return _HEIGHT - _BOTTOM - recall * (_HEIGHT - _TOP - _BOTTOM)


def _recall_lines() -> list[str]:
    return [
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(share):.1f}" y2="{_y(share):.1f}" stroke="#e3e3e3"/>'
        f'<text x="{_LEFT - 8}" y="{_y(share) + 4:.1f}" text-anchor="end" fill="#555">{share:.0%}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]


def _budget_mark(budget: int, budgets: Sequence[int]) -> str:
    place = _x(budget, budgets)
    return f'<text x="{place:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle" fill="#555">{budget:,}</text>'


def _label_heights(recalls: Sequence[float]) -> list[float]:
    """Where each name stands: at its line's end, or as far below the name above it as names need."""
    heights = [0.0] * len(recalls)
    lowest = float("-inf")
    for place in sorted(range(len(recalls)), key=lambda each: -recalls[each]):
        lowest = heights[place] = max(_y(recalls[place]) + 4, lowest + _LINE)
    return heights


def _curve(system: Scores, place: int, budgets: Sequence[int], height: float) -> str:
    colour = _COLOURS[place % len(_COLOURS)]
    points = [(_x(score.budget, budgets), _y(score.recall)) for score in system.by_budget]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'
        f'<text x="{_WIDTH - _RIGHT + 10}" y="{height:.1f}" fill="{colour}">{escape(system.name)}</text>'
    )
