"""Identifiers, paths, addresses and telephone numbers as one word each, beside their parts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["codes", "humps"]

_MIXED = re.compile(r"[-_./\\:@](?:(?<=[a-z].)(?=[0-9])|(?<=[0-9].)(?=[a-z]))")
_GROUPED = re.compile(r"[0-9]\)?[ .\-/]\(?[0-9][0-9]")
"""Without one of these signs nothing is looked for."""
_CODE = re.compile(r"[/\\a-z0-9](?<![a-z0-9].)[a-z0-9]*+(?:[-_./\\:@][a-z0-9]++)++")
_BETWEEN = re.compile(r"[^a-z0-9]+")
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")
_NUMBER = re.compile(r"v?[0-9]+(?:[.:][0-9]+)*[a-z]*|[0-9]{4}-[0-9]{2}-[0-9]{2}t.*")
"""What `numbers` reads, and moments."""
_DIALLED = re.compile(
    r"[+(0-9](?<![\w+-].)[(0-9]{0,6}\)?(?:[ .\-/]\(?[0-9]{2,8}\)?){2,6}(?!\w)"
    r"|[0-9](?<![\w-].)[0-9]{2,4}[-/][0-9]{4,8}(?![\w-])|\+[0-9]{1,6}[ .\-/][0-9]{5,10}(?![\w-])"
)
_OTHER_NUMBER = re.compile(
    r"[1-9][0-9]{0,2}(?: [0-9]{3})+|[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}|[0-9]+(?:\.[0-9]+){3,}"
)
"""Thousands, dates and addresses of machines."""
_ACCOUNT = re.compile(r"[0-9][0-9](?<=[a-z]{2}..)(?<!\w....)(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?(?!\w)")
_HUMPED = re.compile("[A-Z](?<=[a-z].)")
_CAMEL = re.compile(r"[a-z](?<!\w.)[a-z0-9]*+(?:[A-Z]++[a-z0-9]*+)++")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST = 64
_LOCAL, _NATIONAL = 7, 9
"""Digits of a telephone number that is dialled in its town, and in its country."""


def codes(folded: str, *, counted: bool) -> list[str]:
    """Each code of a folded text without the signs inside it; `counted`: the text holds a digit."""
    found: list[str] = []
    if "_" in folded or "@" in folded or folded.count("/") > 1 or "\\" in folded or (counted and _MIXED.search(folded)):
        found += [code for code in _CODE.findall(folded) if _is_telling(code)]
    if counted and _GROUPED.search(folded) is not None:
        found += [folded[match.start() - 2 : match.end()] for match in _ACCOUNT.finditer(folded)]
        for match in _DIALLED.finditer(folded):
            found += _numbers(match[0]) if _is_dialled(match[0]) else ()
    return [_BETWEEN.sub("", code)[-_LONGEST:] for code in found]


def humps(plain: str) -> list[str]:
    """The parts of names like `userId`; the whole is a word anyhow."""
    if _HUMPED.search(plain) is None:
        return []
    return [hump.lower() for name in _CAMEL.findall(plain) for hump in _HUMP.findall(name) if len(hump) > 1]


def _is_telling(code: str) -> bool:
    if _NUMBER.fullmatch(code) is not None or _LETTER.search(code) is None:
        return False
    if "_" in code or "@" in code or "\\" in code or code.count("/") > 1:
        return True
    return _DIGIT.search(code) is not None


def _numbers(dialled: str) -> Iterable[str]:
    """A telephone number with and without what is dialled before it from abroad and from another town."""
    digits = _BETWEEN.sub("", dialled)
    return dict.fromkeys((digits, digits.lstrip("0"), digits[-_NATIONAL:], digits[-_LOCAL:]))


def _is_dialled(run: str) -> bool:
    return sum(map(str.isdigit, run)) >= _LOCAL and _OTHER_NUMBER.fullmatch(run) is None
