"""The ledger as a picture that can be saved: one bar for the whole window, and what each part of it takes. Pure.

The picture stands alone, dark on white. A page that shows it inside itself may colour it by the classes `paper` and
`free`, and its words by `color`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from haversack.budget import Ledger

__all__ = ["COLOURS", "draw_ledger"]

COLOURS = ("#3a7d5c", "#c2571a", "#4f74c8", "#9a5bb0", "#8a7a1f", "#c2456f", "#1f8a9a", "#6f7680", "#7a6a5a", "#5d8a1f")
"""Readable on white and on near black alike."""

_WIDTH, _SIDE = 720, 16
_BAR_TOP, _BAR_HEIGHT = 44, 34
_ROW = 22
_MOST = 12
_FREE, _RESERVED = "spare", "kept for the answer"


def draw_ledger(ledger: Ledger, title: str) -> str:
    """The chart; shares are of the whole window, or of what is used where that is more."""
    parts = _parts(ledger)
    whole = max(1, ledger.budget, sum(tokens for _, tokens in parts))
    top = _BAR_TOP + _BAR_HEIGHT + 24
    drawn = [_frame(title, top + _ROW * len(parts), ledger)]
    place = float(_SIDE)
    for number, (name, tokens) in enumerate(parts):
        wide = tokens / whole * (_WIDTH - 2 * _SIDE)
        drawn.append(_segment(number, name, tokens, whole, place, wide))
        drawn.append(_legend(number, name, tokens, whole, top + _ROW * number))
        place += wide
    return "\n".join([*drawn, "</svg>"]) + "\n"


def _parts(ledger: Ledger) -> list[tuple[str, int]]:
    """Name and tokens of each segment, the reserve and what is spare last."""
    lines = [(line.name, line.tokens) for line in ledger.lines if line.tokens > 0]
    if len(lines) > _MOST:
        lines = _summed((name.partition("/")[0], tokens) for name, tokens in lines)
    rest = [(_RESERVED, ledger.reserved), (_FREE, max(0, ledger.spare))]
    return _folded(lines) + [(name, tokens) for name, tokens in rest if tokens > 0]


def _summed(lines: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for name, tokens in lines:
        found[name] = found.get(name, 0) + tokens
    return list(found.items())


def _folded(lines: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    if len(lines) <= _MOST:
        return list(lines)
    return [*lines[: _MOST - 1], ("others", sum(tokens for _, tokens in lines[_MOST - 1 :]))]


def _frame(title: str, height: int, ledger: Ledger) -> str:
    said = f"{ledger.total:,} of {ledger.budget:,} tokens used"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" color="#1a1a1a" '
        f'font-family="system-ui, sans-serif" font-size="13"><title>{escape(title)}: {said}</title>'
        f'<rect class="paper" width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
        f'<text x="{_SIDE}" y="28" font-size="15" fill="currentColor">{escape(_short(title))}</text>'
        f'<text x="{_WIDTH - _SIDE}" y="28" text-anchor="end" fill="currentColor">{said}</text>'
    )


def _segment(number: int, name: str, tokens: int, whole: int, place: float, wide: float) -> str:
    return (
        f'<rect x="{place:.2f}" y="{_BAR_TOP}" width="{wide:.2f}" height="{_BAR_HEIGHT}" {_paint(number, name)}>'
        f"<title>{escape(name)}: {tokens:,} tokens, {tokens / whole:.1%}</title></rect>"
    )


def _legend(number: int, name: str, tokens: int, whole: int, y: int) -> str:
    return (
        f'<rect x="{_SIDE}" y="{y - 11}" width="12" height="12" {_paint(number, name)}/>'
        f'<text x="{_SIDE + 20}" y="{y}" fill="currentColor">{escape(_short(name))}</text>'
        f'<text x="{_WIDTH - _SIDE - 70}" y="{y}" text-anchor="end" fill="currentColor">{tokens:,}</text>'
        f'<text x="{_WIDTH - _SIDE}" y="{y}" text-anchor="end" fill="currentColor">{tokens / whole:.1%}</text>'
    )


def _paint(number: int, name: str) -> str:
    if name in {_FREE, _RESERVED}:
        dashes = ' stroke-dasharray="4 3"' if name == _RESERVED else ""
        return f'class="free" fill="#f2f2f2" stroke="#8b929c"{dashes}'
    return f'fill="{COLOURS[number % len(COLOURS)]}"'


def _short(words: str) -> str:
    return words if len(words) <= 60 else words[:59] + "…"  # noqa: PLR2004 - what stands beside the numbers
