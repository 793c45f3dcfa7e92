"""Dates and times as words: what a query says about when. Pure; `now` is an argument.

Expressions are read by rules, the most telling first. Each leaves a mark in place of its words, so that the rules of
relations see `since #` or `the week before #`, whatever the date was. Other languages are put into English first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property

from haversack.scoring import calendars as cal
from haversack.scoring.calendars import COUNTED, DAYS, MONTHS, NEAR, STEPS, Grain, Span
from haversack.scoring.tongues import in_english

__all__ = ["Grain", "Span", "asks_for_latest", "asks_when", "spans", "without_latest"]

_WHEN = re.compile(
    r"\b(when|what (?:date|day|month|year|time)|how long|since when|how many (?:days|weeks|months|years)"
    r"|which (?:day|month|year|date))\b"
)
_LATEST = re.compile(
    r"\b(?:latest|most recent(?:ly)?|newest|current(?:ly)?|right now|these days|up to date|at the moment|at present"
    r"|presently|as of (?:now|today)|nowadays|now|still|any ?more)\b",
    re.IGNORECASE,
)


def asks_when(query: str) -> bool:
    """Whether the answer is a time."""
    return _WHEN.search(in_english(query.lower())) is not None


def asks_for_latest(query: str) -> bool:
    """Whether the newest word on the matter is wanted."""
    return _LATEST.search(in_english(query.lower())) is not None


def without_latest(query: str) -> str:
    """Return the query without the English words that ask for the newest word, which no answer needs to hold."""
    return _LATEST.sub(" ", query)


def spans(query: str, now: datetime, earliest: datetime) -> tuple[Span, ...]:
    """What the query names, resolved in `now`'s own time zone.

    A month, day or quarter without a year stands for each of its occurrences from `earliest` to the end of this year,
    at most ten years back. A date of which nobody can say which number is the month is read both ways. `since`,
    `before` and the like give the date itself and, more weakly, all that lies on that side of it; `the week before` it
    gives that week alone. A text that names more times than anybody asks about is read for the most telling ones alone.
    """
    text = in_english(query.lower())[:_LONGEST].replace(_MARK, " ")
    if _TELLING.isdisjoint(_TOKEN.findall(text)):
        return ()
    return _Reading(text, now, earliest).spans()


_Match = re.Match[str]
_MARK = "\ue000"
_MOST = 40
"""Times that are read of one query."""
_LONGEST = 20_000
"""Characters that are looked through for them; signs become words, which are longer."""
_AT = rf"(?P<at>{_MARK}\d+{_MARK})"


@dataclass(slots=True)
class _Reading:
    """One query while it is read."""

    text: str
    now: datetime
    earliest: datetime
    marked: list[list[Span]] = field(default_factory=list[list[Span]])

    def spans(self) -> tuple[Span, ...]:
        for pattern, read in _RULES.compiled:
            if (left := _MOST - len(self.marked)) > 0 and pattern.search(self.text):
                self._replace(pattern, read, left)
        if self.marked:
            for pattern, relate in _RELATIONS.compiled:
                self._replace(pattern, relate)
        return tuple(dict.fromkeys(span for found in self.marked for span in found))

    @property
    def zone(self) -> tzinfo:
        return self.now.tzinfo or UTC

    @property
    def midnight(self) -> datetime:
        return self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def years(self, said: str | None) -> list[int]:
        """The year that is said, or all that may be meant."""
        if said:
            return [cal.full_year(said)]
        first = max(self.earliest.astimezone(self.zone).year, self.now.year - 10)
        return list(range(min(first, self.now.year), self.now.year + 1))

    def take(self, mark: str) -> list[Span]:
        """The spans behind a mark, which count no longer by themselves."""
        place = int(mark.strip(_MARK))
        found, self.marked[place] = self.marked[place], []
        return found

    def _replace(self, pattern: re.Pattern[str], read: _Read, most: int = 0) -> None:
        def marked(match: _Match) -> str:
            try:
                found = read(match, self)
            except (OverflowError, ValueError):  # beyond the years that there are
                found = []
            self.marked.append(found)
            return f"{match.groupdict().get('keep') or ''}{_MARK}{len(self.marked) - 1}{_MARK}"

        self.text = pattern.sub(marked, self.text, most)


_Read = Callable[[_Match, _Reading], list[Span]]

_NUMBERS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"a": 1, "an": 1, "couple": 2, "few": 3}
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_TENS = {"thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80, "nineties": 90}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, north of the equator."""


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _dates(match: _Match, reading: _Reading) -> list[Span]:
    """A day, month or year, in each year that may be meant; from one day to the `other` where that is named."""
    parts = match.groupdict()
    month = (
        int(parts["number"]) if parts.get("number") else cal.month_named(parts["month"]) if parts.get("month") else None
    )
    day = int(parts["day"]) if parts.get("day") else None
    found: list[Span] = []
    for year in reading.years(parts.get("year")):
        first = cal.date_span(year, month, day, reading.zone)
        last = cal.date_span(year, month, int(parts["other"]), reading.zone) if parts.get("other") else first
        if first and last and first.start <= last.start:
            found.append(Span(start=first.start, end=last.end, grain=first.grain))
    return found


def _numeric(match: _Match, reading: _Reading) -> list[Span]:
    """Two numbers and a year: with points the day stands first; else both ways, unless only one makes a date."""
    one, other, year = int(match["one"]), int(match["other"]), cal.full_year(match["year"])
    pairs = [(other, one)] if match["join"] == "." else [(other, one), (one, other)]
    both = (cal.date_span(year, month, day, reading.zone) for month, day in dict.fromkeys(pairs))
    return [span for span in both if span is not None]


def _numbered_week(match: _Match, reading: _Reading) -> list[Span]:
    each = (cal.week_span(year, int(match["week"]), reading.zone) for year in reading.years(match["year"]))
    return [span for span in each if span is not None]


def _quarter(match: _Match, reading: _Reading) -> list[Span]:
    """A quarter or half of a year."""
    number = _ORDINALS.get(match["number"]) or int(match["number"])
    length = 6 if match["part"].startswith("h") else 3
    if number * length > 12:  # noqa: PLR2004 - a year's months
        return []
    first = (number - 1) * length + 1
    return [cal.months_span(year, first, length, reading.zone) for year in reading.years(match["year"])]


def _season(match: _Match, reading: _Reading) -> list[Span]:
    parts, month, now = match.groupdict(), _SEASONS[match["season"]], reading.now
    if parts.get("which") is None:
        return [cal.months_span(year, month, 3, reading.zone) for year in reading.years(parts.get("year"))]
    each = [cal.months_span(year, month, 3, reading.zone) for year in range(now.year - 2, now.year + 3)]
    match STEPS[parts["which"]]:
        case -1:
            return [span for span in each if span.end <= now][-1:]
        case 0:
            return [span for span in each if span.end > now][:1]
        case _:
            return [span for span in each if span.start > now][:1]


def _decade(match: _Match, reading: _Reading) -> list[Span]:
    parts = match.groupdict()
    start = int(parts["decade"]) if parts["decade"] else 1900 + (_TENS.get(parts["name"]) or int(parts["tens"]))
    return [cal.years_span(start, 10, reading.zone)]


def _near(match: _Match, reading: _Reading) -> list[Span]:
    return [cal.days_span(reading.midnight + timedelta(days=NEAR[match["near"]]), 1)]


def _through(match: _Match, reading: _Reading) -> list[Span]:
    length = cal.days_of(_number(match.groupdict().get("count") or "one"), match["unit"])
    return (
        []
        if length is None
        else [cal.through(reading.midnight, length, match["unit"], ahead=STEPS[match["which"]] > 0)]
    )


def _away(match: _Match, reading: _Reading) -> list[Span]:
    """So many units from today: that day, or a unit around it."""
    length = cal.days_of(_number(match.groupdict().get("count") or "one"), match["unit"])
    sign = -1 if match.groupdict().get("ago") else 1
    return [] if length is None else [cal.around(reading.midnight + timedelta(days=sign * length), match["unit"])]


def _half_ago(match: _Match, reading: _Reading) -> list[Span]:
    """Half a year ago is about a month, half a month ago about a week."""
    days, unit = (182, "month") if match["unit"] == "year" else (15, "week")
    return [cal.around(reading.midnight - timedelta(days=days), unit)]


def _christmas(match: _Match, reading: _Reading) -> list[Span]:
    """From the eve to the second day: the last that is over, the next, or that of this year."""
    now, step = reading.now, STEPS[match["which"]]
    each = [cal.days_span(datetime(now.year + n, 12, 24, tzinfo=reading.zone), 3) for n in (-1, 0, 1)]
    if step == 0:
        return each[1:2]
    return (
        [span for span in each if span.end <= now][-1:] if step < 0 else [span for span in each if span.start > now][:1]
    )


def _hours(match: _Match, reading: _Reading) -> list[Span]:
    hours = timedelta(hours=_number(match["count"]))
    if match.groupdict().get("ago"):
        hour = timedelta(hours=1)
        return [Span(start=reading.now - hours - hour, end=reading.now - hours + hour, grain=Grain.DAY)]
    return [Span(start=reading.now - hours, end=reading.now + timedelta(microseconds=1), grain=Grain.DAY)]


def _unit(match: _Match, reading: _Reading) -> list[Span]:
    return [cal.unit_span(reading.midnight, match["unit"], STEPS[match["which"]])]


def _weekday(match: _Match, reading: _Reading) -> list[Span]:
    """The one of this week, or the nearest before or after today; without a word to say which, the one before."""
    day, today, step = DAYS.index(match["weekday"]), reading.midnight, STEPS[match.groupdict().get("which") or "last"]
    if step == 0:
        return [cal.days_span(cal.monday(today) + timedelta(days=day), 1)]
    away = step * ((step * (day - today.weekday())) % 7 or 7)
    return [cal.days_span(today + timedelta(days=away), 1)]


def _weekday_of_week(match: _Match, reading: _Reading) -> list[Span]:
    start = cal.monday(reading.midnight) + timedelta(days=7 * STEPS[match["which"]])
    return [cal.days_span(start + timedelta(days=DAYS.index(match["weekday"])), 1)]


def _day_of_month(match: _Match, reading: _Reading) -> list[Span]:
    """The latest such day that has come."""
    today = reading.midnight
    before = cal.unit_span(today, "month", -1).start
    each = (cal.date_span(month.year, month.month, int(match["day"]), reading.zone) for month in (today, before))
    return [span for span in each if span is not None and span.start <= today][:1]


def _weekend(_match: _Match, reading: _Reading) -> list[Span]:
    """The latest weekend that has begun."""
    this = cal.unit_span(reading.midnight, "weekend", 0)
    return [this if this.start <= reading.now else cal.unit_span(reading.midnight, "weekend", -1)]


def _same(match: _Match, reading: _Reading) -> list[Span]:
    return reading.take(match["at"])


def _beside(match: _Match, reading: _Reading) -> list[Span]:
    """So many units before or after a date, or the unit just before or after it."""
    count, unit = match.groupdict().get("count"), match["unit"]
    sign = -1 if match["side"] in _BACKWARDS else 1
    anchors = reading.take(match["at"])
    if count is None:
        return [cal.next_to(anchor, unit, sign) for anchor in anchors]
    length = cal.days_of(_number(count), unit)
    if length is None:
        return []
    return [cal.around(anchor.start + timedelta(days=sign * length), unit) for anchor in anchors]


def _between(match: _Match, reading: _Reading) -> list[Span]:
    """From the first to the end of the second; of several firsts, the latest that is not after the second."""
    firsts, lasts = reading.take(match["one"]), reading.take(match["at"])
    found: list[Span] = []
    for last in lasts:
        begun = [first for first in firsts if first.start <= last.start]
        if begun:
            first = max(begun, key=lambda span: span.start)
            found.append(Span(start=first.start, end=last.end, grain=min(first.grain, last.grain)))
    return found or firsts + lasts


def _on_one_side(match: _Match, reading: _Reading) -> list[Span]:
    own = reading.take(match["at"])
    come = [span for span in own if span.start <= reading.now] or own
    if not come:
        return []
    nearest = max(come, key=lambda span: span.start)
    if match["side"] in _BACKWARDS:
        start, end = reading.earliest, nearest.start
    else:
        start, end = nearest.start, reading.midnight + timedelta(days=1)
    return own + ([Span(start=start, end=end, grain=Grain.YEAR)] if start < end else [])


_TOKEN = re.compile(r"[a-z]+|\d")
_TELLING = frozenset(
    [*"0123456789", *MONTHS, *(month[:3] for month in MONTHS), "sept", *DAYS, *_SEASONS, *_TENS]
    + [word for phrase in NEAR for word in phrase.split()[-1:]]
    + "christmas xmas quarter half week weekend hour day fortnight month year decade".split()  # noqa: SIM905
    + "hours days weeks fortnights months quarters years decades".split()  # noqa: SIM905
)
"""Without one of these no time is named."""
_BACKWARDS = frozenset({"before", "prior to", "until", "till", "up to"})
_M = r"(?P<month>" + "|".join(MONTHS) + r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<year>(?:19|20)\d\d)"
_TO = r" ?(?:-|\u2013|to|until|till|through|and) ?"
_OTHER = _TO + r"(?P<other>\d{1,2})(?:st|nd|rd|th)?"
_W = r"(?P<weekday>" + "|".join(DAYS) + r")"
_S = r"(?P<season>" + "|".join(_SEASONS) + r")"
_N = r"(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + r")(?: of)?"
_U = r"(?P<unit>day|week|fortnight|month|quarter|year|decade)"
_EACH = r"(?P<unit>day|night|weekend|week|month|quarter|year)"
_SIDE = r"(?P<side>since|after|before|until|till|prior to|up to)"
_WHICH = r"(?P<which>" + "|".join(STEPS) + r")"
_KEEP = r"(?P<keep>(?:in|during|since|of|last|this|next|early|late|mid|by|until|from|to|and|before|after|between)[ -])"
_THE = r"(?:the )?"


class _Rules:
    """Patterns with what reads their matches; compiled when the first text names a time."""

    def __init__(self, rules: dict[str, _Read]) -> None:
        self._rules = rules

    @cached_property
    def compiled(self) -> list[tuple[re.Pattern[str], _Read]]:
        return [(re.compile(pattern), read) for pattern, read in self._rules.items()]


_RULES = _Rules(
    {
        rf"\b{_Y}(?P<join>[-/.])(?P<number>\d\d?)(?P=join)(?P<day>\d\d?)(?!\d)": _dates,
        r"(?<![\d./-])(?P<one>\d\d?)(?P<join>[-/.])(?P<other>\d\d?)(?P=join)"
        r"(?P<year>(?:19|20)?\d\d)\b(?![-/.]\d)": _numeric,
        rf"\b{_Y}-?w(?P<week>\d\d)\b": _numbered_week,
        rf"\b(?:calendar )?week (?P<week>\d\d?)(?:,? (?:of |in )?{_Y})?\b": _numbered_week,
        rf"\b{_Y}-(?P<number>\d\d)\b": _dates,
        rf"\b{_Y}[ /-]?(?P<part>[qh])(?P<number>[1-4])\b": _quarter,
        rf"\b(?P<part>q)(?P<number>[1-4])(?:[ /'-]?(?:of )?{_Y})?\b": _quarter,
        rf"\b(?P<part>h)(?P<number>[12])[ /'-]?(?:of )?{_Y}\b": _quarter,
        rf"\b(?P<number>{'|'.join(_ORDINALS)}) (?P<part>quarter)(?:(?: of)? {_Y})?\b": _quarter,
        rf"\b(?P<number>first|second|1st|2nd) (?P<part>half)(?: of)? {_Y}\b": _quarter,
        rf"\b{_M} {_D}{_OTHER}(?:,? {_Y})?\b(?! ?[%:])": _dates,
        rf"\b{_D}{_OTHER}(?: of)? {_M}(?:,? {_Y})?\b": _dates,
        rf"\b{_D}(?: of)? {_M}(?:,? {_Y})?\b": _dates,
        rf"\b{_M} {_THE}{_D}(?:,? {_Y})?\b(?! *%)": _dates,
        rf"\b{_M},? (?:of )?{_Y}\b": _dates,
        rf"\b{_KEEP}{_M}\b": _dates,
        rf"\b{_S}(?: of)? {_Y}\b": _season,
        rf"\b{_WHICH} {_S}\b": _season,
        rf"\b{_WHICH} (?:christmas|xmas)\b": _christmas,
        rf"(?P<keep>\b(?:in|during|over|since|before|after) {_THE}){_S}\b": _season,
        rf"\b(?P<decade>(?:19|20)\d0)'?s\b|\bthe (?:'?(?P<tens>[3-9]0)'?s|(?P<name>{'|'.join(_TENS)}))\b": _decade,
        rf"\b{_Y}\b(?! ?(?:%|(?:{COUNTED})\b))": _dates,
        rf"(?:\bon )?\b{_W},? {_THE}{_AT}": _same,
        rf"\b(?P<near>{'|'.join(NEAR)})\b": _near,
        rf"\b{_W},? (?:of )?{_WHICH} week\b": _weekday_of_week,
        rf"\b{_WHICH} week'?s? (?:on )?{_W}\b": _weekday_of_week,
        rf"\b{_WHICH} {_N} {_U}s?\b": _through,
        r"\b(?P<which>past) (?P<unit>week|month|quarter|year|decade)\b": _through,
        rf"\b(?:last|past) {_N} hours?\b": _hours,
        rf"\b{_N} hours? (?P<ago>ago)\b": _hours,
        r"\bhalf an? (?P<unit>year|month) (?P<ago>ago)\b": _half_ago,
        rf"\b{_N} {_U}s? (?P<ago>ago)\b": _away,
        rf"\b{_U} (?P<ago>ago)\b": _away,
        rf"\b{_N} {_U}s? from (?:now|today)\b": _away,
        rf"\bin (?!an? ){_N} {_U}s?\b": _away,
        rf"\b{_WHICH} (?P<unit>week|weekend|month|quarter|year|decade)\b": _unit,
        rf"\b{_WHICH} (?:on )?{_W}\b": _weekday,
        rf"\bon {_W}\b": _weekday,
        rf"(?P<keep>\b(?:since|after|before|until|till) ){_W}\b": _weekday,
        r"\bon the (?P<day>\d\d?)(?:st|nd|rd|th)\b": _day_of_month,
        r"\b(?:over|during|at|on) the weekend\b": _weekend,
    }
)
_RELATIONS = _Rules(
    {
        rf"\b{_THE}{_N} {_U}s? (?P<side>before|after|prior to) {_THE}{_AT}": _beside,
        rf"\b{_THE}{_EACH} (?P<side>before|after|prior to) {_THE}{_AT}": _beside,
        rf"(?:\b(?:between|from) )?{_THE}(?P<one>{_MARK}\d+{_MARK}){_TO}{_THE}{_AT}": _between,
        rf"\b{_SIDE} {_THE}(?:(?:end|start|beginning|middle) of )?{_AT}": _on_one_side,
    }
)
