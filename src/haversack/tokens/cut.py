"""Where text may be cut: between pieces whose counts add up exactly, and never inside what readers see as one sign."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

__all__ = ["adds_up", "blocks", "segments", "whole_sign"]

_FRAMED = re.compile(r"\n(?=[^\s/])")
"""A newline before neither white space nor `/`: no published pre-tokenizer reaches across such a place."""

_LOOK_BACK = 64
"""Signs longer than this are hostile, not text; they may be split."""

_ZWJ = "\u200d"
_EXTENDERS = re.compile("[\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]")


def adds_up(left: str, right: str) -> bool:
    """The framing rule: whether count(left + right) = count(left) + count(right) for every additive counter."""
    if not left or not right:
        return True
    return left[-1] == "\n" and not right[0].isspace() and right[0] != "/"


def segments(text: str) -> list[str]:
    """The text cut at each framed place; joined again they are the text, and their counts add up to its count."""
    if text.find("\n", 0, -1) < 0:
        return [text]
    return list(blocks(text, 1))


def blocks(text: str, size: int) -> Iterator[str]:
    """Framed pieces of at least `size` characters, save the last: bounds the memory that one long text takes."""
    start = 0
    while (place := _FRAMED.search(text, start + size - 1)) is not None:
        yield text[start : place.end()]
        start = place.end()
    yield text[start:]


def whole_sign(text: str, cut: int) -> int:
    """The nearest place at or before `cut` that splits no letter with its marks, emoji sequence, flag or CR LF."""
    if cut >= len(text):
        return len(text)
    lowest = max(0, cut - _LOOK_BACK)
    place = cut
    while place > lowest and _inside(text, place):
        place -= 1
    return cut if place == lowest > 0 else place


def _inside(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if after.isascii() and before.isascii():
        return before == "\r" and after == "\n"
    if before == _ZWJ or _EXTENDERS.match(after) or unicodedata.category(after)[0] == "M":
        return True
    if "\ud800" <= before <= "\udbff":
        return "\udc00" <= after <= "\udfff"
    return bool(_FLAGS.match(after)) and _flags_before(text, place) % 2 == 1


def _flags_before(text: str, place: int) -> int:
    """How many regional indicators stand in a row before `place`: two make one flag."""
    start = place
    while start > max(0, place - _LOOK_BACK) and _FLAGS.match(text[start - 1]):
        start -= 1
    return place - start
