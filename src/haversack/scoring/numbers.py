"""Numbers as words: one word for all spellings of a number, one for a number with its unit, and dates as days. Pure.

`1,000`, `1 000`, `1.000` and `1'000` are the word `1000`; `0,5` and `.5` are `0.5`; `07:05` is `7:05`. The parts of such
a number are no words. Where a spelling has two readings (`1.234`), both are words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from haversack.scoring.tongues import month_numbers

__all__ = ["DIGIT", "NUMERAL", "day_words", "figures", "narrowed", "plain_digits", "spelled_out"]

# each begins with what it takes, not with a look behind: an engine passes over other characters quickly
_SPACED = r"[0-9](?<![0-9] [0-9])[0-9]{0,2}(?: [0-9]{3}(?!\w))++(?! ?[0-9])(?:[.,][0-9]++)?"
_PARTED = r"[0-9]{1,4}[-/][0-9]{1,2}[-/][0-9]{1,4}(?![-/]?[0-9])(?:t(?=[0-9]))?"
_JOINED = r"[0-9]++(?:[.,:'][0-9]++)++"
NUMERAL = (
    rf"{_PARTED}|{_SPACED}|{_JOINED}|-(?<![\w.)\]]-)(?:{_SPACED}|{_JOINED}|[0-9]++)"
    r"|\.(?<![\w.]\.)[0-9]++(?![\w.])|v[0-9]++(?:\.[0-9]++)++"
)
"""A number that is more than a run of digits, in folded text; alternatives of a pattern that takes words as well."""
DIGIT = re.compile(r"\d")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_NARROW = re.compile("(?<=\\d)[\u00a0\u2007\u2009\u202f\u2019\u066c](?=\\d{3}(?!\\d))")
"""What stands between thousands and never between words and numbers."""
_DATE = re.compile(r"(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})t?")
_SHORT_DATE = re.compile(r"(?P<one>[0-9]{1,2})(?P<join>[-/.])(?P<other>[0-9]{1,2})(?P=join)(?P<year>[0-9]{4})")
_CLOCK = re.compile(r"(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?P<second>:[0-5][0-9])?(?:[.,][0-9]+)?")
_COMMAS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]+)?")
_APOSTROPHES = re.compile(r"[1-9][0-9]{0,2}(?:'[0-9]{3})+(?:[.,][0-9]+)?")
_DECIMAL = re.compile(r"[0-9]+,[0-9]+")
_POINTED = re.compile(r"[0-9.,]+")
_RUN = re.compile(r"[-v]?[0-9.,:'/ -]+t?")
_BREAK = re.compile(r"[^0-9.]+")
_MEASURE = re.compile(
    r"(?P<digits>[-0-9](?<![\w.,:].)(?:(?<=[0-9])|(?=[0-9]))[0-9]*+(?:[.,:'][0-9]++| [0-9]{3}(?![0-9]))*+)"
    r"(?P<apart> ?)(?P<unit>[^\W\d_]++)(?!\w)"
)
_DAY = re.compile(r"(?P<day>0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th|er|e|\u00ba|o|-?\u0433\u043e)?")
_YEAR = re.compile(r"(?:1[0-9]|20)[0-9]{2}")
_BETWEEN = frozenset("of the de del di do da den".split())  # noqa: SIM905 - a list of words reads best as words
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee", "₽": "ruble", "%": "percent"}
_SIGN = re.compile("[$€£¥₹₽%]")
_BEFORE = re.compile(r"([$€£¥₹₽]) ?(-?[0-9]++(?:[.,' ][0-9]{2,}+)*+)")
_BEHIND = re.compile(r"([0-9]) ?([$€£¥₹₽%])(?! ?[0-9])")
_UNITS = {"eur": "euro", "usd": "dollar", "gbp": "pound", "jpy": "yen", "inr": "rupee", "rub": "ruble"}
_IDEOGRAPHS = re.compile(r"(?:([0-9]{4}) ?[年년] ?)?(?<![0-9])([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日号號일]")
_VIETNAMESE = re.compile(r"(?:ngày )?(?<![0-9])([0-9]{1,2}) tháng ([0-9]{1,2})(?: năm ([0-9]{4}))?")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ZEROS = re.compile(r"(?<=[0-9])\.(?:0|00)$|(?<=\.[1-9])0$")
"""Of a fraction of one or two digits: more are thousands as often as not."""
_SYMBOL = 3
"""Letters of a unit up to which their case tells."""
_HALVES = frozenset(("am", "pm"))
_UNSPACED = "\u2e80"
"""From here on a unit is one letter: the next is of the next word."""
_STARTS = frozenset("0123456789-.v")
_NOON = 12
_KEPT_FORMS = 4096


class _Forms(NamedTuple):
    sure: tuple[str, ...]
    loose: tuple[str, ...] = ()
    """Words that a text has as well, and that no question asks for."""


def plain_digits(text: str) -> str:
    """The digits of every script as those of ASCII."""
    if _OTHER_DIGIT.search(text) is None:
        return text
    return _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)


def narrowed(text: str) -> str:
    """Without the narrow signs between thousands, which normal forms do not tell from blanks."""
    return _NARROW.sub("", text)


def spelled_out(text: str) -> str:
    """Signs of currencies, and the dates of scripts without spaces, as words behind the number."""
    if _SIGN.search(text) is not None:
        text = _BEFORE.sub(lambda match: f"{match[2]} {_SIGNS[match[1]]} ", text)
        text = _BEHIND.sub(lambda match: f"{match[1]} {_SIGNS[match[2]]} ", text)
    if "月" in text or "월" in text:
        text = _IDEOGRAPHS.sub(lambda match: f" {match[1] or 0:0>4}-{match[2]}-{match[3]} ", text)
    if "tháng" in text:
        text = _VIETNAMESE.sub(lambda match: f" {match[3] or 0:0>4}-{match[2]}-{match[1]} ", text)
    return text


def figures(words: Sequence[str], plain: str, *, asked: bool, small: AbstractSet[str]) -> tuple[list[str], list[str]]:
    """Folded words with each number in all its forms; and, beside them, numbers with their units, and days.

    `plain` is the text before it was folded. What is `asked` has the sure forms alone; `small` words are no units.
    """
    days, found, beside = _days_in(words), list[str](), _measures(plain, small)
    for place, word in enumerate(words):
        if word[0] not in _STARTS:
            found.append(word)
        elif place in days:
            beside += days[place]
            found += () if asked or days[place] else (word,)
        elif _RUN.fullmatch(word) is None:
            found.append(word)
        else:
            forms = _forms(word)
            for form in forms.sure if asked else forms.sure + forms.loose:
                (beside if form[0] == "@" else found).append(form)
    return found, beside


def day_words(year: int | None, month: int, day: int) -> tuple[str, ...]:
    """The words of a day: with its year where it is known, and without; none for a day that no calendar has."""
    if not (1 <= month <= len(_LENGTHS) and 1 <= day <= _LENGTHS[month - 1]):
        return ()
    yearless = f"@{month:02}-{day:02}"
    return (f"@{year:04}-{month:02}-{day:02}", yearless) if year else (yearless,)


@lru_cache(_KEPT_FORMS)
def _forms(run: str) -> _Forms:
    """The words of one run of digits and signs."""
    run = run.removeprefix("v")
    body = run.removeprefix("-")
    sign = run[: len(run) - len(body)]
    if body.isdigit() or not (whole := _whole(body.rstrip("t"))).sure:
        return _Forms((run,))
    return _Forms(tuple(form if form[0] == "@" else sign + form for form in whole.sure), whole.loose)


def _whole(body: str) -> _Forms:
    if " " in body:
        return _Forms(_whole(body.replace(" ", "")).sure or (body.replace(" ", ""),), tuple(_BREAK.split(body)))
    if body[0] == ".":
        return _Forms((f"0{body}",))
    read = _dated(body) or _timed(body) or _counted(body)
    return read or _Forms(tuple(form for part in _BREAK.split(body) for form in (_whole(part).sure or (part,)) if form))


def _dated(body: str) -> _Forms | None:
    if (match := _DATE.fullmatch(body)) is not None:
        days = day_words(int(match["year"]), int(match["month"]), int(match["day"]))
    elif (match := _SHORT_DATE.fullmatch(body)) is not None:
        one, other = int(match["one"]), int(match["other"])
        days = day_words(int(match["year"]), other, one)
        days += day_words(int(match["year"]), one, other) if match["join"] != "." else ()
    else:
        return None
    return _Forms(tuple(dict.fromkeys(days)), (match["year"],) if match["year"] > "0000" else ()) if days else None


def _timed(body: str) -> _Forms | None:
    match = _CLOCK.fullmatch(body)
    if match is None:
        return None
    minute, second = f"{int(match['hour'])}:{match['minute']}", match["second"] or ":00"
    return _Forms((minute,)) if second == ":00" else _Forms((minute + second,), (minute,))


def _counted(body: str) -> _Forms | None:
    """A number with signs between its thousands or before its fraction, in each way that it can be read."""
    if _APOSTROPHES.fullmatch(body) is not None:
        return _Forms((body.replace("'", "").replace(",", "."),))
    if _POINTED.fullmatch(body) is None:
        return None
    read = [] if "," in body else [body]
    if "," in body and _COMMAS.fullmatch(body) is not None:
        read.append(body.replace(",", ""))
    if _POINTS.fullmatch(body) is not None or _DECIMAL.fullmatch(body) is not None:
        read.append((body if _DECIMAL.fullmatch(body) else body.replace(".", "")).replace(",", "."))
    return _Forms(tuple(read)) if read else None


def _measures(plain: str, small: AbstractSet[str]) -> list[str]:
    """Numbers with their units: in small letters, and as written, for 5 MW are not 5 mW."""
    measures, months = list[str](), month_numbers()
    for digits, apart, unit in _MEASURE.findall(plain):
        folded = unit.casefold()
        if folded in small or folded in months:
            continue
        values = _values(digits)
        if folded in _HALVES:
            measures += _at_half(digits, folded)
        elif apart or not digits.isdigit():  # else it is a word as it stands
            folded = _UNITS.get(folded, folded if folded[0] < _UNSPACED else folded[0])
            measures += [value + folded for value in values]
        if len(unit) <= _SYMBOL and not unit.islower() and unit.isascii():
            measures += [value + unit for value in values]
    return measures


def _values(run: str) -> list[str]:
    """Without zeros at the end: 5.00 euros are 5 euros, while a version 1.20 is not 1.2."""
    return [_ZEROS.sub("", form) for form in _forms(run).sure if form[0] != "@"]


def _at_half(clock: str, half: str) -> Sequence[str]:
    """An hour of twelve as one of twenty-four, and with its half of the day."""
    hour, _, minute = clock.partition(":")
    if not hour.isdigit() or not 1 <= int(hour) <= _NOON:
        return ()
    minute = minute and f":{minute}"
    return f"{int(hour) % _NOON + _NOON * (half == 'pm')}{minute or ':00'}", f"{int(hour)}{minute}{half}"


def _days_in(words: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """The days that words name, by the place of their number; the place of their year has none."""
    months = month_numbers()
    if months.keys().isdisjoint(words):
        return {}
    days: dict[int, tuple[str, ...]] = {}
    for place, word in enumerate(words):
        month = months.get(word.partition("'")[0])
        if month is None:
            continue
        before, after = _beside(words, place, -1), _beside(words, place, 1)
        number = next((each for each in (before, after) if each in range(len(words)) and _DAY.fullmatch(words[each])), None)
        if number is None or number in days:
            continue
        behind = after if number == before else _beside(words, number, 1)
        year = behind if behind < len(words) and _YEAR.fullmatch(words[behind]) else None
        day = _DAY.fullmatch(words[number])
        if day is not None and (named := day_words(int(words[year]) if year is not None else None, month, int(day["day"]))):
            days[number] = named
            days |= {} if year is None else {year: ()}
    return days


def _beside(words: Sequence[str], place: int, step: int) -> int:
    """The place of the next word in this direction that is more than `of` or `the`."""
    place += step
    while 0 <= place < len(words) and words[place] in _BETWEEN:
        place += step
    return place
