from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree as ET

import pytest

from haversack.inspector.pictures import Reading, draw_growth, draw_strength, draw_timeline, draw_utilisation

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>window.x=1</script>&\"'"


def titles(picture: str) -> list[str]:
    root = ET.fromstring(picture)  # noqa: S314 - our own picture
    return [str(each.text) for each in root.iter(f"{SVG}title")][1:]


def points(picture: str) -> list[tuple[float, float]]:
    line = ET.fromstring(picture).find(f"{SVG}polyline")  # noqa: S314 - our own picture
    assert line is not None
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.attrib["points"].split())]


def test_each_day_has_a_bar_and_empty_days_keep_their_place() -> None:
    picture = draw_timeline({date(2026, 3, 1): 4, date(2026, 3, 3): 1}, "By day")
    assert titles(picture) == ["2026-03-01: 4", "2026-03-02: 0", "2026-03-03: 1"]


def test_long_spans_are_summed_into_sixty_bars() -> None:
    start = date(2026, 1, 1)
    drawn = titles(draw_timeline({start + timedelta(days=n): 1 for n in range(150)}, "Long"))
    # 150 days in steps of 3 make 50 bars
    assert len(drawn) == 50
    assert drawn[0] == "2026-01-01 to 2026-01-03: 3"
    assert sum(int(words.rpartition(": ")[2]) for words in drawn) == 150


def test_growth_is_the_running_total() -> None:
    picture = draw_growth({date(2026, 1, 1): 1, date(2026, 1, 2): 1, date(2026, 1, 3): 2}, "Growth")
    # the field is 648 wide from 56 and 156 high above 190
    assert points(picture) == [(56.0, 151.0), (380.0, 112.0), (704.0, 34.0)]


def test_strength_has_its_threshold_and_the_present() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    curve = [(start, 1.0), (start + timedelta(days=10), 0.5)]
    picture = draw_strength(curve, now=start + timedelta(days=5), threshold=0.2, title="Strength")
    assert points(picture) == [(56.0, 34.0), (704.0, 112.0)]
    assert "decayed below 0.2" in picture
    assert 'x1="380.0" x2="380.0"' in picture


def test_utilisation_has_bands_and_compactions() -> None:
    readings = [
        Reading(position=0, percent=50),
        Reading(position=1, percent=110),
        Reading(position=2, percent=55, compacted=True),
    ]
    picture = draw_utilisation(readings, "Full")
    assert titles(picture) == [
        "elevated above 70 %",
        "warning above 85 %",
        "critical above 95 %",
        "overage above 100 %",
        "compacted before turn 3: 55 %",
    ]
    assert [y for _, y in points(picture)] == [119.1, 34.0, 112.0]


def test_long_sessions_are_thinned_but_compactions_stay() -> None:
    readings = [Reading(position=n, percent=10, compacted=n == 1_001) for n in range(6_000)]
    picture = draw_utilisation(readings, "Long")
    assert len(points(picture)) <= 610
    assert "compacted before turn 1,002: 10 %" in titles(picture)


@pytest.mark.parametrize(
    "picture",
    [draw_timeline({}, HOSTILE), draw_growth({}, HOSTILE), draw_utilisation([], HOSTILE)],
    ids=["timeline", "growth", "utilisation"],
)
def test_nothing_to_draw_is_a_picture_too_and_titles_stay_words(picture: str) -> None:
    root = ET.fromstring(picture)  # noqa: S314 - our own picture
    assert root.findtext(f"{SVG}title") == HOSTILE
    assert not list(root.iter(f"{SVG}script"))
