"""Numbers as words: one word for all spellings of a number, one for a number with its unit, and dates as days. Pure.

`1,000`, `1 000`, `1.000` and `1'000` are the word `1000`; `0,5` and `.5` are `0.5`; `07:05` is `7:05`. The parts of
such a number are no words. Where a spelling has two readings (`1.234`), both are words. A day is the word
`@2026-03-05`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from haversack.scoring.spoken import LARGE, decimal
from haversack.scoring.tongues import month_numbers
from haversack.scoring.units import SYMBOLS, WORTH, symbol_of

__all__ = ["DIGIT", "UNSPACED", "day_words", "figures", "narrowed", "plain_digits", "spelled_out"]

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts that are written without spaces."""
DIGIT = re.compile(r"\d")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_NARROW = re.compile("(?<=\\d)[\u00a0\u2007\u2009\u202f\u2019\u066c](?=\\d{3}(?!\\d))")
"""What stands between thousands and never between words and numbers."""
_RAISED = re.compile("(?<=[0-9])[\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,3}")
_FIGURE = re.compile(
    # begins with what it takes, not with a look behind, so that the engine passes over other characters quickly
    rf"[0-9](?:(?<![^\W_{UNSPACED}].)|(?<=[vV].)(?<!\w[vV].)(?=[0-9]*\.[0-9]))(?:"
    r"(?P<date>[0-9]{0,3}[-/][0-9]{1,2}[-/][0-9]{1,4}(?![-/]?[0-9]))(?:[tT](?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?))?"
    r"|(?P<spaced>(?<![0-9] [0-9])[0-9]{0,2}(?: [0-9]{3}(?!\w))++(?! ?[0-9])(?:[.,][0-9]++)?)"
    r"|(?P<joined>[0-9]*+(?:[.,:'][0-9]++)++)"
    r"|[0-9]*+)(?P<glued>[A-Za-z0-9]*+(?:[\u03bc\u03a9][A-Za-z]*+)?)(?: ?(?P<unit>[^\W\d_]++[23]?)(?!\w))?"
)
_DATE = re.compile(r"(?P<year>[0-9]{4})([-/.])(?P<month>[0-9]{1,2})\2(?P<day>[0-9]{1,2})")
_SHORT_DATE = re.compile(r"(?P<one>[0-9]{1,2})(?P<join>[-/.])(?P<other>[0-9]{1,2})(?P=join)(?P<year>[0-9]{4})")
_CLOCK = re.compile(r"(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?P<second>:[0-5][0-9])?(?:[.,][0-9]+)?")
_COMMAS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{2,3})*,[0-9]{3}(?:\.[0-9]+)?")
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+(?:,[0-9]+)?")
_APOSTROPHES = re.compile(r"[1-9][0-9]{0,2}(?:'[0-9]{3})+(?:[.,][0-9]+)?")
_DECIMAL = re.compile(r"[0-9]+,[0-9]+")
_POINTED = re.compile(r"[0-9.,]+")
_AMOUNT = re.compile(r"-?[0-9]{0,99}\.?[0-9]{1,99}")
_BREAK = re.compile(r"[^0-9.]+")
_ZEROS = re.compile(r"(?<=[0-9])\.(?:0|00)$|(?<=\.[1-9])0$")
"""Of a fraction of one or two digits: more are thousands as often as not."""
_SYMBOL = 3
"""Letters of a unit up to which their case tells: 5 MW are not 5 mW."""
_HALVES = frozenset(("am", "pm"))
_NOON = 12
_FAR_EAST = "\u2e80"
"""From here on a unit is one letter: the next is of the next word."""
_ORDINALS = frozenset(("", "st", "nd", "rd", "th", "er", "e", "o"))
_ENDINGS = _ORDINALS - {"", "e", "o"}
_DAY = re.compile(r"(?:\.|-?\u0433\u043e)? ?(?:(?:of|de|do|del|di|da) ){0,2}(?P<month>[^\W\d_]++)")
_YEAR = re.compile(r"[.,]? (?:(?:of|de|del|do) )?(?P<year>(?:1[0-9]|20)[0-9]{2})(?!\w)")
_LOOKED_BACK = 20
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee", "₽": "ruble", "%": "percent"}
_SCALES = {"k": " thousand", "m": " million", "bn": " billion"}
_SIGN = re.compile("[$€£¥₹₽%°/^]|[A-Z]{3} ?[0-9]|inus [0-9]|[0-9](?:e-?[0-9]|[*][*]| ?sq| ?cu)")
"""Without one of these there is nothing to spell out in most scripts."""
_BEFORE = re.compile(
    r"(?:\b([A-Z]{1,2}))?([$€£¥₹₽]|\b(?:EUR|USD|GBP|JPY|CHF|INR|RUB)(?![A-Za-z])) ?"
    r"(-?[0-9]++(?:[.,'][0-9]++| [0-9]{3}(?![0-9]))*+)"
    r"(?:( (?:thousand|million|billion)|[kKmM]|[bB]n)(?![^\W_]))?"
)
_BEHIND = re.compile(r"([0-9]) ?([$€£¥₹₽%])(?! ?[0-9])")
_POWER = re.compile(
    r"(?<![\w.,])(?:([0-9]{1,6}(?:[.,][0-9]{1,6})?)(?: ?[x\u00d7\u00b7*] ?10(?:\^|\*\*)|e\+?(?=-?[0-9]))|10(?:\^|\*\*))"
    r"(-?[0-9]{1,2})(?![\w^])"
)
_SQUARE = re.compile(r"([0-9]) ?(sq(?:uare)?|cu(?:bic)?)\.? ([A-Za-z]{1,12})\b")
_WRITTEN_OUT = 15
"""Digits of a power of ten."""
_MINUS = re.compile(r"\b[Mm]inus (?=[0-9])")
_DEGREES = re.compile("([0-9]) ?°")
_FRACTION = re.compile(
    r"(?<![\w.,:/^-])(-(?!-))?(?:([0-9]{1,3})[ -])?([0-9]{1,2})/(2|3|4|5|6|8|10|12|16|32|64)(?![\w/^-])"
)
_UNITS = {"eur": "euro", "usd": "dollar", "gbp": "pound", "jpy": "yen", "inr": "rupee", "rub": "ruble"}
_IDEOGRAPHS = re.compile(r"(?:([0-9]{4}) ?[年년] ?)?(?<![0-9])([0-9]{1,2}) ?[月월] ?([0-9]{1,2}) ?[日号號일]")
_VIETNAMESE = re.compile(r"(?:ngày )?(?<![0-9])([0-9]{1,2}) tháng ([0-9]{1,2})(?: năm ([0-9]{4}))?")
_KEPT_FORMS = 4096
_Match = re.Match[str]


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
    """Without the narrow signs between thousands, which normal forms do not tell from blanks; powers behind `^`."""
    return _RAISED.sub(r"^\g<0>", _NARROW.sub("", text))


def spelled_out(text: str, *, asked: bool) -> str:
    """Signs and codes of currencies as words behind the number, fractions as decimals, and dates of the Far East.

    A text keeps the parts of a fraction as well; what is `asked` does not.
    """
    if _SIGN.search(text) is not None:
        text = _BEFORE.sub(_behind, text)
        text = _DEGREES.sub(r"\1 degrees ", _BEHIND.sub(lambda match: f"{match[1]} {_SIGNS[match[2]]} ", text))
        text = _MINUS.sub("-", text)
        parts = "" if asked else "".join(map(_parts, _FRACTION.finditer(text)))
        text = _SQUARE.sub(_squared, _POWER.sub(_plainly, _FRACTION.sub(_decimal, text))) + parts
    if text.isascii():
        return text
    text = _IDEOGRAPHS.sub(lambda match: f" {match[1] or 0:0>4}-{match[2]}-{match[3]} ", text)
    return _VIETNAMESE.sub(lambda match: f" {match[3] or 0:0>4}-{match[2]}-{match[1]} ", text)


def figures(plain: str, *, asked: bool, small: AbstractSet[str]) -> list[str]:
    """The words of a text, not yet folded, that begin with digits; then numbers with their units, and days.

    What is `asked` has the sure forms alone; `small` words are no units.
    """
    found, beside, months, read = list[str](), list[str](), month_numbers(), 0
    for match in _FIGURE.finditer(plain):
        if match.start() < read:
            found += () if asked else (match[0][:4],)  # the year of the day before it
            continue
        if match.end("glued") - match.start() <= _SYMBOL + 1 and (day := _day(plain, match, months)) is not None:
            words, read = day
            beside += words
            continue
        run, glued = _run_of(plain, match), match["glued"].lower()
        unit = match["glued"] or match["unit"] or ""
        if asked and unit and (exact := _worth(run, unit)):
            beside += exact  # neither 5 of another unit, nor 5 mW for 5 MW
            continue
        if run.isdigit():
            found.append(run + glued)
            beside += (run,) if glued in _ENDINGS and not asked else ()
        elif asked and unit.casefold() in _HALVES and _at_half(run, unit.casefold()):
            pass  # 5:05 pm is 17:05
        else:
            forms = _forms(run)
            found += forms.sure if asked else forms.sure + forms.loose
            found += (glued,) if glued else ()
        if match["clock"]:
            found += _forms(match["clock"]).sure
        if unit:
            beside += _measures(run, unit, small, glued=bool(glued))
    return [word for word in found if word[0] != "@"] + beside + [word for word in found if word[0] == "@"]


def _plainly(match: _Match) -> str:
    """The number that a power of ten stands for; as it is where it has too many digits to be written out."""
    power = int(match[2])
    value = Decimal((match[1] or "1").replace(",", ".")).scaleb(power)
    return f"{value:f}" if abs(power) <= _WRITTEN_OUT else match[0]


def _squared(match: _Match) -> str:
    unit = SYMBOLS.get(match[3].lower(), match[3])
    return f"{match[1]} {unit}{2 if match[2][0] == 's' else 3}"


def _behind(match: _Match) -> str:
    """The currency behind its number; in `US$5` the country before it."""
    scale = (match[4] or "").lower()
    return f"{match[1] or ''} {match[3]}{_SCALES.get(scale, scale)} {_SIGNS.get(match[2], match[2])} ".removeprefix(
        "" if match[1] else " "
    )


def _decimal(match: _Match) -> str:
    """A fraction with its whole as a decimal; `10/10` and `12/4` are more often marks, scores and days."""
    if not _is_proper(match):
        return match[0]
    return f"{match[1] or ''}{decimal(int(match[2] or 0) + int(match[3]) / int(match[4]))}"


def _parts(match: _Match) -> str:
    """The parts of a fraction, for the end of the text, where they stand between no neighbours."""
    return f"; {match[3]}; {match[4]}" if _is_proper(match) else ""


def _is_proper(match: _Match) -> bool:
    return int(match[3]) < int(match[4])


def day_words(year: int | None, month: int, day: int) -> tuple[str, ...]:
    """The words of a day: with its year where it is known, and without; none for a day that no calendar has."""
    if not (1 <= month <= len(_LENGTHS) and 1 <= day <= _LENGTHS[month - 1]):
        return ()
    yearless = f"@{month:02}-{day:02}"
    return (f"@{year:04}-{month:02}-{day:02}", yearless) if year else (yearless,)


def _run_of(plain: str, match: _Match) -> str:
    """The digits and the signs among them, with the sign or the point before."""
    start = match.start()
    run, before = plain[start : match.end("date") if match["clock"] else match.start("glued")], plain[start - 1 : start]
    if before and before in "-." and not plain[max(0, start - 2) : start - 1].strip("([{\"'\n\t ,;:=<>"):
        return f"-{run}" if before == "-" else f"0.{run}"
    return run


def _day(plain: str, match: _Match, months: dict[str, int]) -> tuple[tuple[str, ...], int] | None:
    """The words of the day that a month beside the number makes of it, and where it ends."""
    start, end = match.start(), match.end("glued")
    digits = plain[start : match.start("glued")]
    if not digits.isdigit() or match["glued"].lower() not in _ORDINALS:
        return None
    month = months.get((match["unit"] or "").casefold())
    if month is not None:
        end = match.end("unit")
    elif (behind := _DAY.match(plain, end)) is not None and behind["month"].casefold() in months:
        month, end = months[behind["month"].casefold()], behind.end()
    else:
        before = (
            plain[max(0, start - _LOOKED_BACK) : start].casefold().replace(".", "").removesuffix("the ").rsplit(None, 1)
        )
        counts = symbol_of(match["unit"] or "") is not None  # we may 5 minutes later
        month = months.get(before[-1]) if before and not counts else None
    if month is None:
        return None
    year = _YEAR.match(plain, end)
    words = day_words(None if year is None else int(year["year"]), month, int(digits))
    return (words, end if year is None else year.end()) if words else None


@lru_cache(_KEPT_FORMS)
def _forms(run: str) -> _Forms:
    """The words of one run of digits and signs."""
    body = run.removeprefix("-")
    sign = run[: len(run) - len(body)]
    if body.isdigit():
        return _Forms((run,))
    whole = _whole(body)
    return _Forms(tuple(form if form[0] == "@" else sign + form for form in whole.sure), whole.loose)


def _whole(body: str) -> _Forms:
    if " " in body:
        joined = body.replace(" ", "")
        return _Forms((joined,) if joined.isdigit() else _whole(joined).sure, tuple(_BREAK.split(body)))
    parts = tuple(filter(None, _BREAK.split(body)))
    return _dated(body) or _timed(body) or _counted(body) or _Forms((body, *parts) if ":" in body else parts)


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
    if _DECIMAL.fullmatch(body) is not None:
        read.append(body.replace(",", "."))
    elif _POINTS.fullmatch(body) is not None:
        read.append(body.replace(".", "").replace(",", "."))
    return _Forms(tuple(read)) if read else None


def _measures(run: str, unit: str, small: AbstractSet[str], *, glued: bool) -> Sequence[str]:
    """A number with its unit: in small letters, unless it is a word so, and as written where it is a symbol."""
    folded = unit.casefold()
    if folded in _HALVES:
        return _at_half(run, folded)
    if folded in small and unit not in WORTH:
        return ()
    if (scale := "thousand" if glued and unit == "k" else folded) in LARGE:
        return [f"{value * LARGE[scale]:.15g}" for _, value in _amounts(run)]
    values = [_ZEROS.sub("", form) for form in _forms(run).sure if form[0] != "@"]
    symbol = symbol_of(unit) or (unit if len(unit) <= _SYMBOL and unit.isascii() and not unit.islower() else "")
    folded = _UNITS.get(folded, folded if folded[0] < _FAR_EAST else folded[0])
    units = [] if glued and run.isdigit() else [folded]
    said = [value + each for value in values for each in ([*units, symbol] if symbol else units)]
    return [*dict.fromkeys((*said, *_worth(run, unit)))]


def _worth(run: str, unit: str) -> Sequence[str]:
    """A number with the symbol of a known unit, and what it is in the unit without a prefix; nothing for others."""
    symbol = symbol_of(unit) or unit
    if symbol not in WORTH:
        return ()
    times, base = WORTH[symbol]
    return [word for said, value in _amounts(run) for word in (said + symbol, f"{value * times:.6g}={base}")]


def _amounts(run: str) -> list[tuple[str, float]]:
    """The numbers that a run can be, without needless zeros; none that is too long to be measured or counted."""
    said = [_ZEROS.sub("", form) for form in _forms(run).sure if _AMOUNT.fullmatch(form)]
    return [(each, float(each)) for each in said]


def _at_half(clock: str, half: str) -> Sequence[str]:
    """An hour of twelve as one of twenty-four, and with its half of the day."""
    hour, _, minute = clock.replace(".", ":").partition(":")
    if not hour.isdigit() or len(hour) > len("12") or not 1 <= int(hour) <= _NOON:
        return ()
    minute = minute and f":{minute}"
    return f"{int(hour) % _NOON + _NOON * (half == 'pm')}{minute or ':00'}", f"{int(hour)}{minute}{half}"
