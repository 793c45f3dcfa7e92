"""How time grows with what is sent: the worst of all patterns and of each entrance, over hostile runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from bench.growth.entrances import CROWDS, ENTRANCES, Bed, Call, Entrance, bed
from bench.growth.hostile import RUNS, UNITS, Text, attacks, run
from bench.growth.measure import Growth, Limits, Work, growth_of, undisturbed
from bench.growth.patterns import SCAN, Found, every_pattern
from bench.options import Options
from bench.table import Table

__all__ = ["measure", "worst_of_crowd", "worst_of_entrance", "worst_of_pattern"]

Worst = tuple[str, Growth]
"""What was sent when time grew most, and how much."""

_PATTERNS = Limits(sizes=(24, 200, 2_500), few=24, floor=0.0003, each=300e-9)
_ENTRANCES = Limits(sizes=(4_000,), floor=0.012)
_CROWDS = Limits(sizes=(100, 500), floor=0.005)


def measure(options: Options) -> Iterator[Table]:
    """Yield the patterns and the entrances that were slow enough to tell; with `full` on more texts."""
    with undisturbed(), bed() as place:
        found = every_pattern()
        yield _table("patterns", [(one.place, worst_of_pattern(one)) for one in found])
        yield _table(
            "entrances",
            [(name, worst_of_entrance(place, one, full=options.full)) for name, one in ENTRANCES.items()]
            + [(name, worst_of_crowd(place, one)) for name, one in CROWDS.items()],
        )


def worst_of_pattern(found: Found) -> Worst:
    """Return the attack after which a pattern's time grows most; the first that is out of proportion."""
    return _worst(
        (f"{way} {label}", _trying(found, text, way), _PATTERNS)
        for label, text in attacks(found.pattern)
        for way in sorted(found.ways)
    )


def worst_of_entrance(place: Bed, entrance: Entrance, *, full: bool = False) -> Worst:
    """Return the run inside a text after which an entrance's time grows most."""
    units = UNITS if full else RUNS
    return _worst((f"{unit!r}…", partial(_entering, place, entrance, unit), _ENTRANCES) for unit in units)


def worst_of_crowd(place: Bed, crowd: Callable[[Bed, int], Call]) -> Worst:
    """Return how the time for memories or turns grows with their number."""
    return _worst([("", partial(crowd, place), _CROWDS)])


def _worst(works: Iterable[tuple[str, Work, Limits]]) -> Worst:
    worst = "", Growth(ratio=0.0)
    for label, work, limits in works:
        worst = max(worst, (label, growth_of(work, limits)), key=lambda one: one[1].ratio)
        if worst[1].is_too_much:
            break
    return worst


def _trying(found: Found, text: Text, way: str) -> Work:
    def prepared(size: int) -> Call:
        words = text(size)
        given = words.encode() if isinstance(found.pattern.pattern, bytes) else words
        if way == SCAN:
            return lambda: deque(found.pattern.finditer(given), 0)
        return partial(getattr(found.pattern, way), given)

    return prepared


def _entering(place: Bed, entrance: Entrance, unit: str, size: int) -> Call:
    return entrance(place, run("We use the boat. ", unit, " And then?", size))


def _table(what: str, worst: list[tuple[str, Worst]]) -> Table:
    told = [(name, label[:40], found) for name, (label, found) in worst if found.ratio]
    return Table(
        name=f"growth-{what}",
        title=f"Growth of time of {len(worst)} {what}: those slow enough to tell, the worst first",
        columns=("where", "what was sent", "size", "ms", "times for 4 x as much"),
        rows=tuple(
            (name, label, found.size, found.seconds * 1000, found.ratio)
            for name, label, found in sorted(told, key=lambda row: -row[2].ratio)
        ),
        notes=("4 is in proportion, 16 is squared; a test refuses more than 9",),
    )
