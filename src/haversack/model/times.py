"""Readings of a moment. Every time inside Haversack is an aware datetime in UTC.

Naive datetimes and texts without an offset are read as UTC, dates as the start of their day in the zone in which days
are counted, or its end where a range ends. Numbers are epoch seconds, or milliseconds when they are too large to be
seconds before the year 5138. Anything else is an error that names the field.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import TypeAlias

from haversack.errors import InputError

__all__ = ["EPOCH", "Moment", "from_micros", "hours_between", "micros", "read_now", "read_range", "read_time"]

Moment: TypeAlias = "datetime | date | int | float | str"
"""What callers may pass for a time."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
_MILLISECONDS_FROM = 1e11
_NUMBER = re.compile(r"-?(\d{9,}|\d+\.\d+)")
_NAMED_UTC = re.compile(r" ?(?:UTC|GMT)$")
_LATEST = datetime(9999, 1, 1, tzinfo=UTC)


def read_time(value: Moment, field: str = "time", zone: tzinfo = UTC) -> datetime:
    """The moment in UTC; raises InputError that names `field` for what cannot be one.

    A date is the start of its day in `zone`. Zero, negative and boolean numbers are refused: in records they mean
    "unknown", not 1970.
    """
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return _within(moment, value, field)
    if isinstance(value, date):
        return _within(datetime.combine(value, time(), zone), value, field)
    if isinstance(value, bool):
        raise _refused(value, field)
    if isinstance(value, int | float):
        try:
            return _from_number(float(value), value, field)
        except OverflowError:  # a whole number of hundreds of digits
            raise _refused(value, field) from None
    if isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] - the edge where callers are checked
        return _from_text(value, field, zone)
    raise _refused(value, field)


def read_range(since: Moment | None, until: Moment | None, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """The moments from which and before which a range lies; a date as its end takes the whole day in.

    Raises InputError for a range in which nothing can lie.
    """
    start = None if since is None else read_time(since, "since", zone)
    day = None if until is None else _day_of(until)
    if until is None:
        return start, None
    if day is None or day == date.max:
        end = read_time(until, "until", zone)
    else:
        end = read_time(day + timedelta(days=1), "until", zone)
    if start is not None and end <= start:
        raise InputError(
            f"nothing lies between since={since!s} and until={until!s}: `until` is the first moment that is left out, "
            "or a date, whose whole day is taken in"
        )
    return start, end


def read_now(value: Moment, zone: tzinfo, field: str = "now") -> datetime:
    """The moment from which somebody speaks, in the zone in which their days are counted.

    That is the zone that came with the value, unless it is UTC or none: then it is `zone`.
    """
    return read_time(value, field).astimezone(_zone_of(value) or zone)


def micros(moment: datetime) -> int:
    """Whole microseconds since the epoch, exactly."""
    return (moment - EPOCH) // _MICRO


def from_micros(value: int) -> datetime:
    """The inverse of `micros`."""
    return EPOCH + timedelta(microseconds=value)


def hours_between(earlier: datetime, later: datetime) -> float:
    """Hours from one moment to another; 0 when the order is the other way round (a clock that jumped)."""
    return max(0.0, (later - earlier).total_seconds() / 3600)


def _zone_of(value: Moment) -> tzinfo | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(_NAMED_UTC.sub("+00:00", value.strip().upper()))
        except ValueError:
            return None
    if not isinstance(value, datetime) or (isinstance(value.tzinfo, timezone) and not value.utcoffset()):
        return None
    return value.tzinfo


def _from_number(seconds: float, given: object, field: str) -> datetime:
    if not math.isfinite(seconds) or seconds <= 0:
        raise _refused(given, field)
    if seconds >= _MILLISECONDS_FROM:
        seconds /= 1000
    try:
        return _within(EPOCH + timedelta(seconds=seconds), given, field)
    except OverflowError:
        raise _refused(given, field) from None


def _day_of(value: Moment) -> date | None:
    """The day that is named without a time of day."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value.strip().upper())
        except ValueError:
            return None
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _from_text(text: str, field: str, zone: tzinfo) -> datetime:
    if (day := _day_of(text)) is not None:
        return _within(datetime.combine(day, time(), zone), text, field)
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        return _from_number(float(stripped), text, field)
    try:
        moment = datetime.fromisoformat(_NAMED_UTC.sub("+00:00", stripped.upper()))
    except ValueError:
        raise _refused(text, field) from None
    return _within(moment if moment.tzinfo else moment.replace(tzinfo=UTC), text, field)


def _within(moment: datetime, given: object, field: str) -> datetime:
    try:
        utc = moment.astimezone(UTC)
    except OverflowError:
        raise _refused(given, field) from None
    if not EPOCH < utc < _LATEST:
        raise _refused(given, field)
    return utc


def _refused(value: object, field: str) -> InputError:
    shown = repr(value)
    if len(shown) > 60:  # noqa: PLR2004 - room for any honest date
        shown = shown[:57] + "..."
    return InputError(
        f"{field}={shown} is not a time: give an aware datetime, an ISO 8601 text, "
        "or epoch seconds or milliseconds after 1970"
    )
