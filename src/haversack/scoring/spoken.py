"""English numbers, fractions and hours that are written as words, put into figures. Pure.

`twenty goats` becomes `20 goats`, `two and a half hours` becomes `2.5 hours`, `minus five` becomes `-5`, `half past
seven` becomes `7:30` and `the twenty-first` becomes `the 21st`. `numbers` reads the result.
"""

from __future__ import annotations

import re
from functools import cache

from haversack.scoring.calendars import MONTHS
from haversack.scoring.units import SYMBOLS

__all__ = ["LARGE", "SPOKEN", "decimal", "in_figures"]

LARGE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen""".split()  # noqa: SIM905 - a list of words reads best as words
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_VALUES = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_FIRST = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
_ORDINALS = (
    {word: n for n, word in enumerate(_FIRST, 1)}
    | {f"{word}th": n for n, word in enumerate(_ONES[13:], 13)}
    | {f"{word[:-1]}ieth": 10 * n for n, word in enumerate(_TENS, 2)}
)
_PLURAL_PARTS = {"halves": 2, "quarters": 4, "quarter": 4, "thirds": 3, "fifths": 5, "eighths": 8, "tenths": 10}
_PARTS = _PLURAL_PARTS | {"half": 2, "third": 3, "fifth": 5, "eighth": 8, "tenth": 10}
_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "twenty-five": 25, "half": 30}
_MOMENTS = {"noon": "12:00", "midday": "12:00", "midnight": "0:00"}
_HALVES = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_ONLY_MONTHS = frozenset(MONTHS) - {"may", "march"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_EVERYDAY = 10
"""Up to here numbers stand in every other sentence: as figures they would be no help, unless they measure."""
_LONGEST_UNIT = 16
_NIGHT = range(6, 12)
"""Hours of the night before midnight."""

SPOKEN = frozenset((*_VALUES, *LARGE, *_ORDINALS, *_PARTS, *_MOMENTS, *_HALVES, "night")) - {"one"}
"""A text without one of these words says no number: `one` alone is a pronoun as often as not."""


def in_figures(plain: str) -> str:
    """Return a text with the numbers that it says as words put in figures."""
    numbers, hours = _spoken()
    return hours.sub(_hour, numbers.sub(_figure, plain))


def decimal(value: float) -> str:
    """Return a number with a fraction: whole where six places hold it, and with three places elsewhere."""
    return f"{value if round(value, 6) == value else round(value, 3):.15g}"


@cache
def _spoken() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compiled when the first such text comes."""
    part, hour, one = "|".join(_PARTS), "|".join(_ONES[1:13]), "|".join(_ONES[1:10])
    ten, later = "|".join(_TENS), "|".join(_ONES[10:])
    small = rf"(?:(?:{ten})(?:[ -](?:{one})\b)?|{'|'.join(_ONES)})\b"
    return re.compile(
        rf"\b(?:(?P<time>(?:(?P<past>{'|'.join(_MINUTES)}) past"
        r"|(?P<to>quarter|(?<=\bat )(?:five|ten|twenty(?:-five)?)) to)"
        rf" (?P<hour>{hour}|1[0-2]|[1-9]))"
        rf"|(?P<moment>{'|'.join(_MOMENTS)})"
        rf"|(?P<place>(?:(?P<ten>{ten})-)?(?P<nth>{'|'.join(_ORDINALS)}))"
        rf"|(?P<year>(?P<century>{'|'.join(_ONES[16:])}|twenty) (?P<rest>(?:{ten})(?:[ -](?:{one}))?|{later}))"
        rf"|(?P<amount>(?P<minus>minus )?(?P<count>{_count(small)}|(?<![0-9].)(?<![.,:])[0-9]{{1,15}}+)"
        rf"(?P<behind>(?P<more>(?<!ion)(?<!and)(?<!red) and an?)?[ -](?P<part>{part})\b(?P<of>(?: of)? an?\b)?)?)"
        rf"|(?P<over>an? (?P<whole>[a-z]{{3,12}}) and a (?P<rest_of>half|quarter))"
        rf"|(?P<share>(?P<piece>half|quarter)(?:(?: of)? an?)?))\b",
        re.IGNORECASE,
    ), re.compile(
        rf"\b(?P<clock>[0-9]{{1,2}}(?:[:.][0-5][0-9])?|{hour})(?: o['\u2019]clock)? "
        rf"(?:in the (?P<half>{'|'.join(_HALVES)})|at night)\b",
        re.IGNORECASE,
    )


def _count(small: str) -> str:
    """The pattern of a whole number: what merely stands beside it, as in `five five`, is another."""
    below = (
        rf"(?>(?:{small}|an?(?= (?:{'|'.join(LARGE)})\b))(?:[ -]hundred\b(?:(?: and)?[ -]{small}(?![ -]hundred\b))?)?"
        rf"|hundred and {small})"
    )
    pattern, larger = below, list[str]()
    for scale in ("billion", "million", "thousand"):
        larger.append(scale)
        pattern += rf"(?:[ -]{scale}\b(?:(?: and)?[ -]{below}(?![ -](?:{'|'.join(larger)})\b))?)?"
    return pattern


def _figure(match: re.Match[str]) -> str:
    """The figures of one number; what is no number stays as it is."""
    figures = {
        "time": _time,
        "moment": _moment,
        "place": _place,
        "year": _year,
        "amount": _amount,
        "over": _over,
        "share": _share,
    }
    return figures[match.lastgroup or ""](match) or match[0]


def _measures(match: re.Match[str]) -> bool:
    """Whether the name of a unit follows."""
    return _next_word(match) in SYMBOLS


def _next_word(match: re.Match[str]) -> str:
    behind = match.string[match.end() : match.end() + _LONGEST_UNIT].split(None, 1)
    return behind[0].lower().rstrip(".,;?!") if behind else ""


def _time(match: re.Match[str]) -> str:
    hour = _value(match["hour"])
    if match["past"]:
        return f"{hour}:{_MINUTES[match['past'].lower()]:02}"
    return f"{(hour - 2) % 12 + 1}:{60 - _MINUTES[match['to'].lower()]}"


def _hour(match: re.Match[str]) -> str:
    half = match["half"]
    hour = _value(match["clock"].replace(".", ":").partition(":")[0])
    after = _HALVES[half.lower()] if half else "pm" if hour in _NIGHT else "am"
    return f"{match['clock'] if match['clock'][0].isdigit() else hour} {after}"


def _moment(match: re.Match[str]) -> str:
    return _MOMENTS[match[0].lower()]


def _place(match: re.Match[str]) -> str | None:
    value = _value(match["ten"] or "zero") + _ORDINALS[match["nth"].lower()]
    if value <= _EVERYDAY and not _is_dated(match):
        return None
    return f"{value}{_ENDINGS.get(value % 10, 'th') if value > _VALUES['nineteen'] or value < _EVERYDAY else 'th'}"


def _is_dated(match: re.Match[str]) -> bool:
    """Whether a month stands beside: `the fourth of July`, `July fourth`; `may` and `march` are verbs as well."""
    before = match.string[max(0, match.start() - _LONGEST_UNIT) : match.start()].lower().split()
    sure = before[-1:] == ["the"]
    behind = match.string[match.end() : match.end() + _LONGEST_UNIT].lower().split()
    near = {word.strip(".,;?!") for word in (*before[-1 - sure :][:1], *behind[:1])}
    if behind[:1] == ["of"] and len(behind) > 1 and behind[1].strip(".,;?!") in MONTHS:
        return True
    return not near.isdisjoint(MONTHS if sure else _ONLY_MONTHS)


def _year(match: re.Match[str]) -> str:
    return f"{_value(match['century'])}{_value(match['rest'])}"


def _amount(match: re.Match[str]) -> str | None:
    value, part = _value(match["count"]), (match["part"] or "").lower()
    sign = "-" if match["minus"] else ""
    if match["more"] or (part and _is_fraction(match["count"], value, part)):
        share = 1 / _PARTS[part]
        of = "" if _measures(match) else match["of"] or ""
        return f"{sign}{decimal(value + share if match['more'] else value * share)}{of}"
    behind = match["behind"] or ""
    if not sign and (match["count"][0].isdigit() or (value <= _EVERYDAY and (behind or not _measures(match)))):
        return None
    return f"{sign}{value}{behind}"


def _is_fraction(count: str, value: int, part: str) -> bool:
    """Whether it is a part of a whole: `three quarters` and `one third`; neither `12 quarters` nor `two half days`."""
    return not count[0].isdigit() and value < _PARTS[part] and (value == 1 or part in _PLURAL_PARTS)


def _over(match: re.Match[str]) -> str | None:
    """An hour and a half."""
    return (
        f"{decimal(1 + 1 / _PARTS[match['rest_of'].lower()])} {match['whole']}"
        if match["whole"].lower() in SYMBOLS
        else None
    )


def _share(match: re.Match[str]) -> str | None:
    measures = _measures(match) or _next_word(match) in LARGE
    return decimal(1 / _PARTS[match["piece"].lower()]) if measures else None


def _value(said: str) -> int:
    """The value of `two hundred and five`, and of digits."""
    if said.isdigit():
        return int(said)
    total = group = 0
    for word in said.lower().replace("-", " ").replace(" and ", " ").split():
        if word == "hundred":
            group = (group or 1) * LARGE[word]
        elif word in LARGE:
            total, group = total + (group or 1) * LARGE[word], 0
        else:
            group += _VALUES.get(word, 1)  # a thousand
    return total + group
