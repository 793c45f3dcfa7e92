"""How time grows with what is sent: the worst of all patterns and of each entrance, over hostile runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial

from bench.growth.hostile import Text, attacks
from bench.growth.measure import Growth, Limits, Work, growth_of, undisturbed
from bench.growth.patterns import SCAN, Found, every_pattern
from bench.options import Options
from bench.table import Cell, Table

__all__ = ["run", "worst_of_pattern"]

_PATTERNS = Limits(sizes=(24, 200, 2_500), few=24, floor=0.0003, each=300e-9)


def run(_: Options) -> Iterator[Table]:
    """Yield the patterns that were slow enough to be measured, then each entrance."""
    with undisturbed():
        found = every_pattern()
        yield _table("patterns", found, [worst_of_pattern(one) for one in found])


def worst_of_pattern(found: Found) -> tuple[str, Growth]:
    """Return the attack after which a pattern's time grows most, and how much; the first that is out of proportion."""
    worst = "", Growth(ratio=0.0)
    for label, text in attacks(found.pattern):
        for way in found.ways:
            growth = growth_of(_trying(found, text, way), _PATTERNS)
            worst = max(worst, (f"{way} {label}", growth), key=lambda one: one[1].ratio)
            if growth.is_too_much:
                return worst
    return worst


def _trying(found: Found, text: Text, way: str) -> Work:
    def prepared(size: int) -> partial[object]:
        words = text(size)
        given = words.encode() if isinstance(found.pattern.pattern, bytes) else words
        if way == SCAN:
            return partial(lambda: deque(found.pattern.finditer(given), 0))
        return partial(getattr(found.pattern, way), given)

    return prepared


def _table(what: str, found: list[Found], worst: list[tuple[str, Growth]]) -> Table:
    measured = [(one, label, growth) for one, (label, growth) in zip(found, worst, strict=True) if growth.ratio]
    rows: list[tuple[Cell, ...]] = [
        (one.place, label[:40], growth.size, growth.seconds * 1000, growth.ratio)
        for one, label, growth in sorted(measured, key=lambda row: -row[2].ratio)
    ]
    return Table(
        name=f"growth-{what}",
        title=f"Growth of time of {len(found)} {what}: those slow enough to tell",
        columns=("where", "worst run", "characters", "ms", "times for 4 x the text"),
        rows=tuple(rows),
        notes=("4 is in proportion, 16 is squared; a test refuses more than 9",),
    )
