"""English numbers, fractions and hours that are written as words, put into figures. Pure.

`twenty goats` becomes `20 goats`, `two and a half hours` becomes `2.5 hours`, `minus five` becomes `-5`, `half past
seven` becomes `7:30` and `the twenty-first` becomes `the 21st`. `numbers` reads the result.
"""

from __future__ import annotations

import re
from functools import cache

from haversack.scoring.units import SYMBOLS

__all__ = ["LARGE", "SPOKEN", "in_figures"]

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
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4, "thirds": 3, "fifths": 5, "eighths": 8, "tenths": 10}
_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "half": 30}
_MOMENTS = {"noon": "12:00", "midday": "12:00", "midnight": "0:00"}
_HALVES = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_EVERYDAY = 10
"""Up to here numbers stand in every other sentence: as figures they would be no help, unless they measure."""
_LONGEST_UNIT = 16

SPOKEN = frozenset((*_VALUES, *LARGE, *_ORDINALS, *_PARTS, *_MOMENTS, *_HALVES)) - {"one"}
"""A text without one of these words says no number: `one` alone is a pronoun as often as not."""


def in_figures(plain: str) -> str:
    """Return a text with the numbers that it says as words put in figures."""
    return _spoken().sub(_figure, plain)


@cache
def _spoken() -> re.Pattern[str]:
    """Compiled when the first such text comes."""
    small, large, part = "|".join(_VALUES), "|".join((*_VALUES, *LARGE)), "|".join(_PARTS)
    minutes, hour = "|".join(_MINUTES), "|".join(_ONES[1:13])
    return re.compile(
        rf"\b(?:(?P<time>(?P<minutes>{minutes}) (?P<way>past|to) (?P<hour>{hour}|1[0-2]|[1-9]))"
        rf"|(?P<told>(?P<clock>[0-9]{{1,2}}(?:[:.][0-5][0-9])?) (?:o'clock )?in the (?P<half>{'|'.join(_HALVES)}))"
        rf"|(?P<moment>{'|'.join(_MOMENTS)})"
        rf"|(?P<place>(?:(?P<ten>{'|'.join(_TENS)})-)?(?P<nth>{'|'.join(_ORDINALS)}))"
        rf"|(?P<amount>(?P<minus>minus )?(?P<count>(?:{small})(?:(?:[ -]|(?<=[dn]) and )(?:{large})\b)*+|[0-9]++)"
        rf"(?:(?P<more> and an?)?[ -](?P<part>{part}))?)"
        rf"|(?P<share>{part}))\b",
        re.IGNORECASE,
    )


def _figure(match: re.Match[str]) -> str:
    """The figures of one number; what is no number stays as it is."""
    said = {name: value.lower() for name, value in match.groupdict().items() if value is not None}
    figures = {"time": _time, "told": _told, "place": _place, "amount": _amount, "share": _share}
    reads = figures.get(match.lastgroup or "")
    found = _MOMENTS[said["moment"]] if reads is None else reads(said, measures=_measures(match))
    return match[0] if found is None else found


def _measures(match: re.Match[str]) -> bool:
    """Whether the name of a unit follows."""
    behind = match.string[match.end() : match.end() + _LONGEST_UNIT].split(None, 1)
    return bool(behind) and behind[0].lower().rstrip(".,;?!") in SYMBOLS


def _time(said: dict[str, str], *, measures: bool) -> str:  # noqa: ARG001 - all readers are called alike
    minutes, hour = _MINUTES[said["minutes"]], _value(said["hour"])
    return f"{hour}:{minutes:02}" if said["way"] == "past" else f"{(hour - 2) % 12 + 1}:{60 - minutes}"


def _told(said: dict[str, str], *, measures: bool) -> str:  # noqa: ARG001
    return f"{said['clock']} {_HALVES[said['half']]}"


def _place(said: dict[str, str], *, measures: bool) -> str | None:  # noqa: ARG001
    value = _VALUES.get(said.get("ten", ""), 0) + _ORDINALS[said["nth"]]
    if value <= _EVERYDAY:
        return None
    return f"{value}{_ENDINGS.get(value % 10, 'th') if value > _VALUES['nineteen'] else 'th'}"


def _amount(said: dict[str, str], *, measures: bool) -> str | None:
    value: float = _value(said["count"])
    if "part" in said:
        part = 1 / _PARTS[said["part"]]
        value = value + part if "more" in said else value * part
    elif "minus" not in said and (said["count"].isdigit() or (value <= _EVERYDAY and not measures)):
        return None
    return f"{'-' * ('minus' in said)}{value:.12g}"


def _share(said: dict[str, str], *, measures: bool) -> str | None:
    return f"{1 / _PARTS[said['share']]:.4g}" if measures else None


def _value(said: str) -> int:
    """The value of `two hundred and five`, and of digits; numbers that only stand side by side are added."""
    if said.isdigit():
        return int(said)
    total = group = 0
    for word in said.replace("-", " ").replace(" and ", " ").split():
        if word == "hundred":
            group = (group or 1) * LARGE[word]
        elif word in LARGE:
            total, group = total + (group or 1) * LARGE[word], 0
        else:
            group += _VALUES[word]
    return total + group
