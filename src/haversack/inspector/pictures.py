"""Charts of the pages, as SVG that can be saved: memories by day, growth, strength of one memory, a session's window.

Pure. Each stands alone, dark on white; a page that shows it inside itself colours it by classes and `color`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from html import escape

from haversack.assemble.picture import COLOURS
from haversack.compaction.status import CRITICAL_ABOVE, ELEVATED_ABOVE, OVERAGE_ABOVE, WARNING_ABOVE

__all__ = ["Reading", "draw_growth", "draw_strength", "draw_timeline", "draw_utilisation"]

_WIDTH, _HEIGHT = 720, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 34, 30
_BARS = 60
_POINTS = 600
_BANDS = (
    ("elevated", ELEVATED_ABOVE, "#8a7a1f"),
    ("warning", WARNING_ABOVE, "#c2571a"),
    ("critical", CRITICAL_ABOVE, "#c2456f"),
    ("overage", OVERAGE_ABOVE, "#c84040"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How full the window was after one turn."""

    position: int
    percent: float
    compacted: bool = False
    """Whether a compaction landed just before."""


def draw_timeline(by_day: Mapping[date, int], title: str) -> str:
    """Bars of how many memories were said or happened when; wide spans are summed."""
    bars = _bars(by_day)
    top = max((count for _, _, count in bars), default=1)
    wide = (_WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    drawn = [_frame(title), *_scale(top)]
    for number, (start, end, count) in enumerate(bars):
        height = count / top * (_HEIGHT - _TOP - _BOTTOM)
        span = f"{start}" if start == end else f"{start} to {end}"
        drawn.append(
            f'<rect x="{_LEFT + number * wide:.2f}" y="{_HEIGHT - _BOTTOM - height:.2f}" '
            f'width="{max(1, wide - 1):.2f}" height="{height:.2f}" fill="{COLOURS[0]}">'
            f"<title>{span}: {count:,}</title></rect>"
        )
    return _closed(drawn, str(bars[0][0]) if bars else "", str(bars[-1][1]) if bars else "")


def draw_growth(by_day: Mapping[date, int], title: str) -> str:
    """The running total."""
    total, points = 0, list[tuple[float, float]]()
    days = sorted(by_day)
    for day in days:
        total += by_day[day]
        points.append((float(day.toordinal()), float(total)))
    drawn = [_frame(title), *_scale(max(1, total)), _line(points, top=max(1, total), colour=COLOURS[2])]
    return _closed(drawn, str(days[0]) if days else "", str(days[-1]) if days else "")


def draw_strength(curve: Sequence[tuple[datetime, float]], *, now: datetime, threshold: float, title: str) -> str:
    """How one memory fades: its strength over time, where it stands now, and below which it counts as decayed."""
    points = [(moment.timestamp(), strength) for moment, strength in curve]
    drawn = [_frame(title), *_scale(1, share=True)]
    y = _y(threshold, 1)
    drawn.append(
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#c2571a" stroke-dasharray="5 4"/>'
        f'<text x="{_WIDTH - _RIGHT}" y="{y - 4:.1f}" text-anchor="end" font-size="11" fill="currentColor">'
        f"decayed below {threshold:g}</text>"
    )
    drawn.append(_line(points, top=1, colour=COLOURS[0]))
    first, last = points[0][0], points[-1][0]
    if first <= now.timestamp() <= last:
        x = _x(now.timestamp(), first, last)
        drawn.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}" stroke="currentColor"/>'
            f'<text x="{min(x + 4, _WIDTH - 40):.1f}" y="{_TOP + 10}" font-size="11" fill="currentColor">now</text>'
        )
    return _closed(drawn, f"{curve[0][0]:%Y-%m-%d}", f"{curve[-1][0]:%Y-%m-%d}")


def draw_utilisation(readings: Sequence[Reading], title: str) -> str:
    """How full the window was after each turn, with the bands of severity, and where compactions landed."""
    top = max(110.0, *(each.percent for each in readings)) if readings else 110.0
    drawn = [_frame(title), *_scale(top / 100, share=True)]
    ends = [*(above for _, above, _ in _BANDS[1:]), top]
    for (name, above, colour), end in zip(_BANDS, ends, strict=True):
        y, high = _y(above, top), _y(end, top)
        drawn.append(
            f'<rect x="{_LEFT}" y="{high:.1f}" width="{_WIDTH - _LEFT - _RIGHT}" height="{y - high:.1f}" '
            f'fill="{colour}" fill-opacity="0.15"/>'
        )
        drawn.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
            f'stroke-dasharray="5 4"><title>{name} above {above:g} %</title></line>'
        )
    kept = _thinned(readings)
    points = [(float(each.position), each.percent) for each in kept]
    if points:
        drawn.append(_line(points, top=top, colour=COLOURS[2]))
        drawn += [_event(each, points[0][0], points[-1][0], top) for each in kept if each.compacted]
    return _closed(drawn, f"turn {readings[0].position + 1:,}" if readings else "", "now")


def _bars(by_day: Mapping[date, int]) -> list[tuple[date, date, int]]:
    """First day, last day and count of each bar, empty ones included."""
    if not by_day:
        return []
    first, last = min(by_day), max(by_day)
    days = (last - first).days + 1
    step = -(-days // _BARS)
    counts = [0] * -(-days // step)
    for day, count in by_day.items():
        counts[(day - first).days // step] += count
    return [
        (first + timedelta(days=number * step), min(last, first + timedelta(days=number * step + step - 1)), count)
        for number, count in enumerate(counts)
    ]


def _thinned(readings: Sequence[Reading]) -> list[Reading]:
    """At most so many readings that a person could tell apart; compactions always stay."""
    step = max(1, len(readings) // _POINTS)
    return [
        each for number, each in enumerate(readings) if number % step == 0 or each.compacted or each is readings[-1]
    ]


def _frame(title: str) -> str:
    words = escape(title if len(title) <= 80 else title[:79] + "…")  # noqa: PLR2004 - what fits on the line
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" color="#1a1a1a" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{words}</title>'
        f'<rect class="paper" width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>'
        f'<text x="{_LEFT}" y="20" font-size="14" fill="currentColor">{words}</text>'
    )


def _scale(top: float, *, share: bool = False) -> list[str]:
    lines: list[str] = []
    for part in (0, 0.5, 1):
        y = _HEIGHT - _BOTTOM - part * (_HEIGHT - _TOP - _BOTTOM)
        label = f"{top * part:.0%}" if share else f"{round(top * part):,}"
        lines.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="currentColor">{label}</text>'
        )
    return lines


def _closed(drawn: Sequence[str], first: str, last: str) -> str:
    y = _HEIGHT - 10
    ends = (
        f'<text x="{_LEFT}" y="{y}" fill="currentColor">{escape(first)}</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{y}" text-anchor="end" fill="currentColor">{escape(last)}</text></svg>\n'
    )
    return "\n".join([*drawn, ends])


def _line(points: Sequence[tuple[float, float]], *, top: float, colour: str) -> str:
    if not points:
        return ""
    first, last = points[0][0], points[-1][0]
    path = " ".join(f"{_x(x, first, last):.1f},{_y(y, top):.1f}" for x, y in points)
    if len(points) == 1:
        x, y = path.split(",")
        return f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>'
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _event(reading: Reading, first: float, last: float, top: float) -> str:
    x, y = _x(reading.position, first, last), _y(reading.percent, top)
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{COLOURS[1]}">'
        f"<title>compacted before turn {reading.position + 1:,}: {reading.percent:.0f} %</title></circle>"
    )


def _x(value: float, first: float, last: float) -> float:
    share = 0.5 if last <= first else (value - first) / (last - first)
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - min(1.0, value / top) * (_HEIGHT - _TOP - _BOTTOM)
