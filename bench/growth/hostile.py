"""Texts that make a careless pattern or parser try again and again: long runs, alone and behind what begins a match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any, cast

__all__ = ["RUNS", "UNITS", "Text", "attacks", "run", "starts"]

Text = Callable[[int], str]
"""Makes the text of about so many characters."""

UNITS = (
    " ", "\t", "\n", "\r\n", "\n ", " \n", "\u00a0", "\u3000", "a", "Z", "aB", "Ab", "é", "ß", "0", "0a", "f",
    "7f", "a/", "/", "../", "\\", "<", "</", "<a>", "#", "# ", "- ", "* ", "-", "*", "+", "=", "|", "~", "> ",
    "1. ", "1) ", "(", ")", "()", "[", "]", "[[", "](", "{", "}", "{}", '"', "'", '\\"', "''", "“", "”", "’",
    "`", "```", "```\n", "\u0301", "\u0301\u0316", "e\u0301", ".", ",", "1.", "1,", "1.1.1.", "1:", "1-", "1/", "字",
    "。", "「", "か", "한", "ก", "ा", "א", "🙂", "\u200d", "👩\u200d", "🇩", "\ufe0f", "@", "a@", "a@b.", "http://", "https://a",
    ":", "::", "a:", ";", "_", "a_", "__", "a.", ". A", "A. ", "e.g. ", "a-", "a'", "a b", "a a ", "A b. ", "!",
    "?", "…", "%", "$1", "\\u", "&", "&lt;", "\x00", "\x1b[", "\u2028", "\u202e", "i like ", "not a but ",
    "my name is ", "1 may ", "<|", "</memories>", "eyJ",
)  # fmt: skip
"""What runs are made of."""
RUNS = (
    " ", "\t", "\n", "\r\n", "a", "Ab", "7f", "a/", "<", "# x ", "- ", "[", '"', "`", "\u0301\u0316", "1.",
    "字", "👩\u200d", "@a", "a.", "a b ", ". A", "I like a. ",
)  # fmt: skip
"""A few of them, for what is slower than a pattern."""
_ALPHABET = " \t\naAzZ0f_-./:@#<'\"`é字\u0301!"
_LONG = 16
"""A repetition of so many is worth a run."""
_parser = cast("Any", import_module("re._parser"))


def run(before: str, unit: str, after: str, size: int) -> str:
    """Return `before`, the unit again and again, and `after`."""
    return before + unit * max(1, size // len(unit)) + after


def again(before: str, unit: str, after: str, size: int) -> str:
    """Return `before` and the unit in turns."""
    return run("", before + unit, after, size)


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, Text]]:
    """Yield texts against a pattern, with what to call them: runs, alone and behind what begins one of its repeats."""
    for unit in UNITS:
        yield f"{unit!r}…", partial(run, "", unit, "!x")
    begun = starts(pattern)
    units = dict.fromkeys(unit for _, own in begun for unit in own if unit)
    for (before, _), unit in product(begun, units):
        yield f"{before!r} {unit!r}…", partial(run, before, unit, "")
        yield f"{before!r} {unit!r}… '!x'", partial(run, before, unit, "!x")
        yield f"({before!r} {unit!r})…", partial(again, before, unit, "!x")


def starts(pattern: re.Pattern[Any]) -> list[tuple[str, list[str]]]:
    """Return for each long repeat of the pattern a text that leads up to it, and texts that it may repeat."""
    words = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    return list(dict(_repeats(_parser.parse(words, flags), "")).items())


def _repeats(parsed: Sequence[Any], before: str) -> Iterator[tuple[str, list[str]]]:
    for item in parsed:
        kind, told = item
        inner = _inner(str(kind), told)
        if str(kind).endswith("_REPEAT") and told[1] >= _LONG:
            yield before, _members(inner[0])
        for branch in inner:
            yield from _repeats(branch, before)
        before += _said(item)


def _inner(kind: str, told: Any) -> list[Any]:
    """Return the patterns inside a node of the parsed pattern."""
    if kind.endswith("_REPEAT"):
        return [told[2]]
    within = {"SUBPATTERN": lambda: [told[3]], "BRANCH": lambda: list(told[1]), "ATOMIC_GROUP": lambda: [told]}
    within |= {"ASSERT": lambda: [told[1]], "GROUPREF_EXISTS": lambda: [each for each in told[1:] if each]}
    return within.get(kind, list[Any])()


def _said(item: Any) -> str:
    """Return a short text that a node takes."""
    kind, told = str(item[0]), item[1]
    match kind:
        case "LITERAL":
            return chr(told)
        case "IN" | "NOT_LITERAL" | "ANY":
            return _members([item])[0]
        case "ASSERT" | "ASSERT_NOT" | "AT":
            return ""
        case _ if kind.endswith("_REPEAT"):
            return "".join(map(_said, told[2])) * min(told[0], _LONG)
        case _:
            inner = _inner(kind, told)
            return "".join(map(_said, inner[0])) if inner else ""


def _members(parsed: Sequence[Any]) -> list[str]:
    """Return texts that a repeated part takes: characters of a class, or its words."""
    kind, told = str(parsed[0][0]), parsed[0][1]
    if len(parsed) == 1 and kind in {"IN", "NOT_LITERAL", "ANY"}:
        chosen: list[tuple[Any, Any]] = (
            [("NEGATE", None), ("LITERAL", told)] if kind == "NOT_LITERAL" else told if kind == "IN" else []
        )
        listed = [chr(value if str(one) == "LITERAL" else value[0]) for one, value in chosen if _is_shown(str(one))]
        negative = any(str(one) == "NEGATE" for one, _ in chosen) or kind == "ANY"
        inside = [sign for sign in _ALPHABET if any(_takes(str(one), value, sign) for one, value in chosen) != negative]
        return list(dict.fromkeys([*([] if negative else listed[:4]), *inside])) or ["x"]
    return ["".join(map(_said, parsed))]


def _is_shown(kind: str) -> bool:
    return kind in {"LITERAL", "RANGE"}


def _takes(kind: str, told: Any, sign: str) -> bool:
    match kind:
        case "LITERAL":
            return chr(told) == sign
        case "RANGE":
            return told[0] <= ord(sign) <= told[1]
        case "CATEGORY":
            name = str(told).removeprefix("CATEGORY_")
            tests = {"SPACE": sign.isspace(), "DIGIT": sign.isdecimal(), "WORD": sign.isalnum() or sign == "_"}
            return tests[name.removeprefix("NOT_")] != name.startswith("NOT_")
        case _:
            return False
