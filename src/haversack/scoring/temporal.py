"""Dates and times as words: what a query says about when. Pure; `now` is an argument."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import IntEnum

__all__ = ["Grain", "Span", "asks_for_latest", "asks_when", "spans"]


class Grain(IntEnum):
    """How exactly a date was named."""

    YEAR = 1
    MONTH = 2
    DAY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of time that a query names."""

    start: datetime
    end: datetime
    """Exclusive."""
    grain: Grain


_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {w: n for n, w in enumerate(_DIGITS)} | {
    "a": 1,
    "an": 1,
    "couple": 2,
    "few": 3,
}
_M = r"(?P<month>" + "|".join(_MONTHS) + r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<year>(?:19|20)\d\d)"
_DATES = [
    re.compile(rf"\b{_Y}(?P<join>[-/.])(?P<number>\d\d?)(?P=join)(?P<day>\d\d?)\b"),
    re.compile(rf"\b(?P<day>\d\d?)\.(?P<number>\d\d?)\.{_Y}\b"),
    re.compile(rf"\b{_Y}-(?P<number>\d\d)\b"),
    re.compile(rf"\b{_D}(?: of)? {_M}(?:,? {_Y})?\b"),
    re.compile(rf"\b{_M} {_D}(?:,? {_Y})?\b(?! *%)"),
    re.compile(rf"\b{_M},? (?:of )?{_Y}\b"),
    re.compile(rf"\b(?:in|during|since|of|last|this|early|late|mid|by|until|from|to|and|before|after)[ -]{_M}\b"),
    re.compile(rf"\b{_Y}\b"),
]
_AGO = re.compile(r"\b(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + r")(?: of)? (?P<unit>day|week|month|year)s? ago\b")
_THROUGH = re.compile(
    r"\b(?:last|past|previous) (?P<count>\d{1,3}|" + "|".join(_NUMBERS) + r")(?: of)? (?P<unit>day|week|month|year)s?\b"
)
_LAST = re.compile(r"\b(?P<which>last|past|this) (?P<unit>week|weekend|month|year|" + "|".join(_DAYS) + r")\b")
_PLAIN_DAY = re.compile(r"\bon (?P<unit>" + "|".join(_DAYS) + r")\b")
_NEAR = {"day before yesterday": 2, "today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "last night": 1}
_WHEN = re.compile(
    r"\b(when|what (?:date|day|month|year|time)|how long|since when|how many (?:days|weeks|months|years)"
    r"|which (?:day|month|year|date))\b"
)
_LATEST = re.compile(
    r"\b(latest|most recent(?:ly)?|newest|current(?:ly)?|right now|these days|up to date|at the moment|as of now)\b"
)


def asks_when(query: str) -> bool:
    """Whether the answer is a time."""
    return _WHEN.search(query.lower()) is not None


def asks_for_latest(query: str) -> bool:
    """Whether the newest word on the matter is wanted."""
    return _LATEST.search(query.lower()) is not None


def spans(query: str, now: datetime, earliest: datetime) -> tuple[Span, ...]:
    """What the query names, resolved in `now`'s own time zone.

    A month or day without a year stands for each of its occurrences from `earliest` to `now`, at most ten years back.
    """
    text, found = query.lower(), list[Span]()
    for pattern in _DATES:
        for match in pattern.finditer(text):
            found += _from_date(match, now, earliest)
        text = pattern.sub(" ", text)
    return tuple(found + _relative(text, now))


def _from_date(match: re.Match[str], now: datetime, earliest: datetime) -> list[Span]:
    parts = match.groupdict()
    zone = now.tzinfo or UTC
    month = int(parts["number"]) if parts.get("number") else _month(parts.get("month"))
    day = int(parts["day"]) if parts.get("day") else None
    first = max(earliest.astimezone(zone).year, now.year - 10)
    years = [int(parts["year"])] if parts.get("year") else range(first, now.year + 1)
    return [span for year in years for span in _span(year, month, day, zone)]


def _month(name: str | None) -> int | None:
    return next(n for n, full in enumerate(_MONTHS, 1) if full.startswith(name[:3])) if name else None


def _span(year: int, month: int | None, day: int | None, zone: tzinfo) -> list[Span]:
    if month is None:
        return [
            Span(start=datetime(year, 1, 1, tzinfo=zone), end=datetime(year + 1, 1, 1, tzinfo=zone), grain=Grain.YEAR)
        ]
    if not 1 <= month <= 12:  # noqa: PLR2004
        return []
    length = calendar.monthrange(year, month)[1]
    start = datetime(year, month, 1, tzinfo=zone)
    if day is None:
        return [Span(start=start, end=start + timedelta(days=length), grain=Grain.MONTH)]
    if not 1 <= day <= length:
        return []
    start += timedelta(days=day - 1)
    return [Span(start=start, end=start + timedelta(days=1), grain=Grain.DAY)]


def _relative(text: str, now: datetime) -> list[Span]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    found: list[Span | None] = []
    for words, back in _NEAR.items():
        if words in text:
            found.append(_days(midnight - timedelta(days=back), 1))
            text = text.replace(words, " ")
    found += [_through(midnight, _number(match["count"]), match["unit"]) for match in _THROUGH.finditer(text)]
    found += [_ago(midnight, _number(match["count"]), match["unit"]) for match in _AGO.finditer(text)]
    found += [_last(midnight, match["unit"], this=match["which"] == "this") for match in _LAST.finditer(text)]
    found += [_last(midnight, match["unit"], this=False) for match in _PLAIN_DAY.finditer(text)]
    return [span for span in found if span is not None]


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word]


def _days(start: datetime, length: int, grain: Grain = Grain.DAY) -> Span:
    return Span(start=start, end=start + timedelta(days=length), grain=grain)


_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_FARTHEST = 366 * 50
"""In days."""


def _ago(midnight: datetime, count: int, unit: str) -> Span | None:
    length = _UNIT_DAYS[unit]
    if count * length > _FARTHEST:
        return None
    middle = midnight - timedelta(days=count * length)
    return _days(middle - timedelta(days=length // 2), length, _GRAINS[unit])


def _through(midnight: datetime, count: int, unit: str) -> Span | None:
    """So many units up to the end of today."""
    length = count * _UNIT_DAYS[unit]
    return _days(midnight - timedelta(days=length), length + 1, _GRAINS[unit]) if length <= _FARTHEST else None


_GRAINS = {"day": Grain.DAY, "week": Grain.DAY, "month": Grain.MONTH, "year": Grain.YEAR}


def _last(midnight: datetime, unit: str, *, this: bool) -> Span | None:
    if unit in _DAYS:
        back = (midnight.weekday() - _DAYS.index(unit)) % 7 or 7
        return _days(midnight - timedelta(days=back), 1)
    monday = midnight - timedelta(days=midnight.weekday())
    match unit:
        case "week":
            return _days(monday - timedelta(days=0 if this else 7), 7)
        case "weekend":
            return _days(monday - timedelta(days=-5 if this else 2), 2)
        case "month":
            first = midnight.replace(day=1)
            start = first if this else (first - timedelta(days=1)).replace(day=1)
            return _days(start, calendar.monthrange(start.year, start.month)[1], Grain.MONTH)
        case _:
            year = midnight.year if this else midnight.year - 1
            return next(iter(_span(year, None, None, midnight.tzinfo or UTC)))
