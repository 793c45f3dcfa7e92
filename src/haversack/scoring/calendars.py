"""Stretches of time by the calendar: days, weeks, months, quarters, years, in a time zone of the caller's. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import IntEnum
from typing import TYPE_CHECKING

from haversack.lazy import lazy

if TYPE_CHECKING:
    import calendar
else:
    calendar = lazy("calendar")

__all__ = [
    "COUNTED",
    "DAYS",
    "MONTHS",
    "NEAR",
    "STEPS",
    "Grain",
    "Span",
    "around",
    "date_span",
    "days_of",
    "days_span",
    "full_year",
    "monday",
    "month_named",
    "months_span",
    "next_to",
    "through",
    "unit_span",
    "week_span",
    "years_span",
]

MONTHS: Sequence[str] = "january february march april may june july august september october november december".split()  # noqa: SIM905
DAYS: Sequence[str] = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
STEPS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
"""How many units away from the present one."""
NEAR = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "day after tomorrow": 2,
    "tomorrow": 1,
}
"""How many days away from today."""
COUNTED = (
    r"tokens?|words?|lines?|pages?|bytes?|[kmg]b|characters?|users?|people|items?|times|steps?|requests?|rows?|files?"
    r"|euros?|eur|dollars?|usd|pounds?|k?cal|calories|met(?:re|er)s?|miles?|[kmc]m|[km]?g|ml|watts?|k?w|ms"
)
"""What makes an amount of a number that a year could have."""
_LENGTHS = {"day": 1, "night": 1, "weekend": 2, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
_LENGTHS["decade"] = 3652
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_YEAR = 12
_CENTURY = 100
_PIVOT = 70
"""Two-digit years from here on are of the twentieth century."""
_FARTHEST = 366 * 50
"""In days."""


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


_GRAINS = dict.fromkeys(_LENGTHS, Grain.DAY) | {
    "month": Grain.MONTH,
    "quarter": Grain.MONTH,
    "year": Grain.YEAR,
    "decade": Grain.YEAR,
}


def month_named(name: str) -> int:
    """The number of the month whose name begins with these three letters."""
    return next(number for number, full in enumerate(MONTHS, 1) if full.startswith(name[:3]))


def full_year(digits: str) -> int:
    """The year of two or four digits."""
    year = int(digits)
    return year if year >= _CENTURY else year + (1900 if year >= _PIVOT else 2000)


def date_span(year: int, month: int | None, day: int | None, zone: tzinfo) -> Span | None:
    """The year, its month or the day, whatever is named; None for one that no calendar has."""
    if month is None:
        return years_span(year, 1, zone)
    if not 1 <= month <= _YEAR:
        return None
    if day is None:
        return months_span(year, month, 1, zone)
    if not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    return days_span(datetime(year, month, day, tzinfo=zone), 1)


def years_span(first: int, count: int, zone: tzinfo) -> Span:
    """So many years."""
    return Span(
        start=datetime(first, 1, 1, tzinfo=zone), end=datetime(first + count, 1, 1, tzinfo=zone), grain=Grain.YEAR
    )


def months_span(year: int, month: int, count: int, zone: tzinfo) -> Span:
    """So many months from this one on."""
    start = datetime(year, month, 1, tzinfo=zone)
    return Span(start=start, end=_months_later(start, count), grain=Grain.MONTH)


def week_span(year: int, week: int, zone: tzinfo) -> Span | None:
    """A week by its ISO number; None where the year has none of this number."""
    try:
        start = datetime.fromisocalendar(year, week, 1).replace(tzinfo=zone)
    except ValueError:
        return None
    return days_span(start, 7)


def days_span(start: datetime, length: int, grain: Grain = Grain.DAY) -> Span:
    """So many days."""
    return Span(start=start, end=start + timedelta(days=length), grain=grain)


def monday(day: datetime) -> datetime:
    """The first day of its week."""
    return day - timedelta(days=day.weekday())


def days_of(count: int, unit: str) -> int | None:
    """About how many days these are; None when it is too far to mean anything."""
    length = count * _LENGTHS[unit]
    return length if length <= _FARTHEST else None


def around(day: datetime, unit: str) -> Span:
    """A stretch of such a unit around a day."""
    length = 7 if unit == "fortnight" else _LENGTHS[unit]
    return days_span(day - timedelta(days=length // 2), length, _GRAINS[unit])


def through(midnight: datetime, length: int, unit: str, *, ahead: bool = False) -> Span:
    """So many days up to the end of today, or from today on."""
    return days_span(midnight if ahead else midnight - timedelta(days=length), length + 1, _GRAINS[unit])


def unit_span(midnight: datetime, unit: str, step: int) -> Span:
    """The week, weekend, month, quarter, year or decade that is `step` ones away from the present one."""
    if unit in _MONTHS_IN:
        count = _MONTHS_IN[unit]
        months = midnight.year * _YEAR + midnight.month - 1
        first = (months // count + step) * count
        start = midnight.replace(year=first // _YEAR, month=first % _YEAR + 1, day=1)
        return Span(start=start, end=_months_later(start, count), grain=_GRAINS[unit])
    start = monday(midnight) + timedelta(days=7 * step + (5 if unit == "weekend" else 0))
    return days_span(start, _LENGTHS[unit])


def next_to(span: Span, unit: str, sign: int) -> Span:
    """The unit that ends where the span begins (`sign` -1), or begins where it ends."""
    edge = span.start if sign < 0 else span.end
    if unit == "weekend":
        saturday = monday(edge) + timedelta(days=5)
        away = 7 if (sign < 0 and saturday + timedelta(days=2) > edge) else 0
        return days_span(saturday - timedelta(days=away), 2)
    if unit in _MONTHS_IN:
        other = _months_later(edge, sign * _MONTHS_IN[unit])
    else:
        other = edge + timedelta(days=sign * _LENGTHS[unit])
    return Span(start=min(edge, other), end=max(edge, other), grain=_GRAINS[unit])


def _months_later(day: datetime, count: int) -> datetime:
    months = day.year * _YEAR + day.month - 1 + count
    year, month = months // _YEAR, months % _YEAR + 1
    return day.replace(year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1]))
