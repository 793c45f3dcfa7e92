"""Shorter forms of an item: its best sentences or lines for the query, one line, a pointer. A fixed list per item.

The list does not depend on the budget, which only chooses from it: that is what keeps packing monotone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from haversack.assemble.frame import one_line
from haversack.assemble.verdict import Rendition

__all__ = ["Short", "query_words", "shorter_forms"]

_SENTENCE_END = re.compile(r"[.!?…][\"')\]]*\s+|[。！？]")
_WORD = re.compile(r"[^\W_]+")
_CHUNK = 240
_LINES_FROM = 3
_LARGEST = 32_000
"""Characters of the largest shorter form, and how much smaller each next one is."""
_SMALLER = 0.8
_SMALLEST = 160
_READ = 40_000
"""Characters that are read where no words are wanted: then the first units are the best, and the forms hold fewer."""
_ONE_LINE = 80
_HEAD = 400
"""Characters that mostly hold the first line's."""
_POINTER = 24
_STEM = 5
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Short:
    """A shorter form."""

    rendition: Rendition
    words: str


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    parent: int


def query_words(text: str) -> frozenset[str]:
    """What to match by: word beginnings, and pairs of characters in scripts without spaces."""
    words = _WORD.findall(text.casefold())
    if text.isascii():
        return frozenset([word[:_STEM] for word in words])
    found: set[str] = set()
    for word in words:
        if _unspaced().search(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.add(word[:_STEM])
    return frozenset(found)


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def shorter_forms(content: str, memory_id: str, wanted: frozenset[str]) -> list[Short]:
    """The forms from long to short, each really shorter than the content and than the one before."""
    units, joint = _units(content if wanted else content[:_READ])
    ranked = _ranked(units, wanted)
    texts = [(Rendition.SHORTENED, _joined(units, ranked[:count], joint)) for count in _counts(units, ranked)]
    best = _joined(units, ranked[:1], joint) if ranked else content
    line = _cut(_beginning(content), _ONE_LINE)
    texts += [
        (Rendition.SHORTENED, _cut(best, _SMALLEST)),
        (Rendition.LINE, line),
        (Rendition.POINTER, f"[{memory_id}] {_cut(line, _POINTER)}"),
    ]
    forms: list[Short] = []
    longest = len(content.strip())
    for rendition, words in texts:
        if words and len(words) < longest:
            forms.append(Short(rendition, words))
            longest = len(words)
    return forms


def _beginning(content: str) -> str:
    """The content on one line, or enough of its beginning."""
    head = one_line(content[:_HEAD])
    return head if len(head) > _ONE_LINE else one_line(content)


def _counts(units: Sequence[_Unit], ranked: Sequence[int]) -> list[int]:
    """How many of the best units each form has, falling: sizes fall by a fixed ratio from most of the content."""
    reach = list(accumulate(len(units[number].text) + 1 for number in ranked))
    size = min(0.85 * reach[-1], _LARGEST) if reach else 0.0
    counts = {1} if len(units) > 1 else set[int]()
    while reach and size >= reach[0]:
        counts.add(bisect_right(reach, size))
        size *= _SMALLER
    return sorted((count for count in counts if count < len(units)), reverse=True)


def _units(content: str) -> tuple[list[_Unit], str]:
    rows = [row.rstrip() for row in content.splitlines() if row.strip()]
    if len(rows) >= _LINES_FROM:
        return _nested(rows), "\n"
    sentences = [sentence for row in rows for sentence in _sentences(row)]
    return [_Unit(piece, -1) for sentence in sentences for piece in _pieces(sentence)], " "


def _sentences(row: str) -> Iterator[str]:
    """The sentences, each with its last mark; quotes and brackets that close behind it are left out."""
    start = 0
    for end in _SENTENCE_END.finditer(row):
        if sentence := row[start : end.start() + 1].strip():
            yield sentence
        start = end.end()
    if sentence := row[start:].strip():
        yield sentence


def _nested(rows: Sequence[str]) -> list[_Unit]:
    """Lines with the line that each is indented under."""
    units: list[_Unit] = []
    open_rows: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        depth = len(row) - len(row.lstrip())
        while open_rows and open_rows[-1][0] >= depth:
            open_rows.pop()
        units.append(_Unit(row, open_rows[-1][1] if open_rows else -1))
        open_rows.append((depth, number))
    return units


def _pieces(sentence: str) -> list[str]:
    """A sentence in pieces of readable length: cut at white space where there is some."""
    pieces: list[str] = []
    start = 0
    while len(sentence) - start > _CHUNK:
        space = sentence.rfind(" ", start + 1, start + _CHUNK)
        end = space if space > start else start + _CHUNK
        pieces.append(sentence[start:end].strip())
        start = end
    pieces.append(sentence[start:].strip())
    return [piece for piece in pieces if piece]


def _ranked(units: Sequence[_Unit], wanted: frozenset[str]) -> list[int]:
    """Best unit first: most of the query's words, then the earliest."""
    if not wanted:
        return list(range(len(units)))
    weights = [len(wanted & query_words(unit.text)) for unit in units]
    return sorted(range(len(units)), key=lambda number: (-weights[number], number))


def _joined(units: Sequence[_Unit], chosen: Sequence[int], joint: str) -> str:
    kept: set[int] = set()
    for number in chosen:
        while number >= 0 and number not in kept:
            kept.add(number)
            number = units[number].parent  # noqa: PLW2901 - climbing to the root
    parts: list[str] = []
    before = -1
    for number in sorted(kept):
        if number != before + 1:
            parts.append(_CUT)
        parts.append(units[number].text)
        before = number
    if before != len(units) - 1:
        parts.append(_CUT)
    return joint.join(parts)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    space = text.rfind(" ", limit // 2, limit)
    return text[: space if space > 0 else limit].rstrip() + _CUT
