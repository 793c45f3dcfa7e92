"""Long texts into chunks at paragraph and sentence ends, never inside a code fence. Pure: the counter is passed in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

__all__ = ["chunk"]

Count = Callable[[Sequence[str]], Sequence[int]]

_FENCE = re.compile(
    r"^(?P<before>[ \t>]*|[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)\n?", re.MULTILINE
)
"""A line that may open or close a fence; one may stand in a quotation or begin an item of a list."""
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_LINE = re.compile(r"(?<=\n)")
_SENTENCE = re.compile(
    r"(?<=[.!?…؟۔।։።])(?<!\b[A-Z]\.)(?<!\b(?:Dr|Mr|Ms|St|No|vs|cf|ca|Nr)\.)(?<!\b(?:Mrs|e\.g|i\.e|z\.B)\.)(?=\s)"
    r"|(?<=[.!?…][\"'”’»)\]])(?=\s)|(?<=[。！？])(?![”」』）])|(?<=[。！？][”」』）])"
)
_WORDS = re.compile(r"\s*+(?:\S{1,200}(?:\s++\S{1,200}){0,39}\s*+)?")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SLICES = (400, 40)
"""Characters of the pieces of a text without words, and of those that are still too long."""


def chunk(text: str, count_many: Count, *, target: int = 200, tolerance: float = 1.25) -> list[str]:
    """Consecutive pieces of the text, each of about `target` tokens; joined they are the text again.

    A text of up to `target · tolerance` tokens stays whole. Only a code fence can make a chunk longer than that.
    """
    limit = int(target * tolerance)
    if len(text.encode("utf-8", "replace")) <= limit or count_many([text])[0] <= limit:  # a token is a byte at least
        return [text]
    return list(_gather(list(_pieces(text, count_many, target)), target, limit))


def _gather(pieces: Sequence[tuple[str, int]], target: int, limit: int) -> Iterator[str]:
    held, size = "", 0
    for piece, tokens in pieces:
        if held and size + tokens > (limit if piece.isspace() else target):  # space belongs to what it comes after
            yield held
            held, size = "", 0
        held, size = held + piece, size + tokens
    if held:
        yield held


def _pieces(text: str, count_many: Count, target: int) -> Iterator[tuple[str, int]]:
    """Pieces and their tokens: fences and paragraphs whole, and what is longer in lines, sentences, words."""
    done = 0
    for start, end in _fences(text):
        yield from _divide(text[done:start], count_many, target, 0)
        yield text[start:end], count_many([text[start:end]])[0]
        done = end
    yield from _divide(text[done:], count_many, target, 0)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Where fences that are closed begin and end; one ends at a bare mark of its sign that is at least as long."""
    lines = list(_FENCE.finditer(text))
    ahead = _longest_ahead(lines)
    place = 0
    while place < len(lines):
        opening = lines[place]
        sign, length = opening["mark"][0], len(opening["mark"])
        place += 1
        if (sign == "`" and "`" in opening["info"]) or ahead[place].get(sign, 0) < length:
            continue
        while lines[place]["mark"][0] != sign or _closing(lines[place]) < length:
            place += 1
        yield opening.start(), lines[place].end()
        place += 1


def _longest_ahead(lines: Sequence[re.Match[str]]) -> list[dict[str, int]]:
    """For each line and the end: how long a mark of each sign can be closed by one of the lines from there on."""
    ahead: list[dict[str, int]] = [{}]
    for line in reversed(lines):
        sign, length = line["mark"][0], _closing(line)
        longer = length > ahead[-1].get(sign, 0)
        ahead.append(ahead[-1] | {sign: length} if longer else ahead[-1])
    return ahead[::-1]


def _closing(line: re.Match[str]) -> int:
    """How long a mark the line can close; 0 when it is no bare mark."""
    return 0 if line["info"].strip() or line["before"].strip(" \t>") else len(line["mark"])


def _divide(text: str, count_many: Count, target: int, level: int) -> Iterator[tuple[str, int]]:
    parts = [part for part in _cut(text, level) if part]
    for part, tokens in zip(parts, count_many(parts) if parts else (), strict=True):
        if tokens <= target or level == _LEVELS - 1:
            yield part, tokens
        else:
            yield from _divide(part, count_many, target, level + 1)


def _cut(text: str, level: int) -> list[str]:
    match level:
        case 0:
            ends = [0, *(match.end() for match in _PARAGRAPH.finditer(text)), len(text)]
            return [text[a:b] for a, b in pairwise(ends)]
        case 1:
            return _LINE.split(text)
        case 2:
            return _SENTENCE.split(text)
        case 3:
            return _in_words(text)
        case _:
            return _sliced(text, _SLICES[1])


_LEVELS = 5


def _in_words(text: str) -> list[str]:
    return _sliced(text, _SLICES[0]) if text.isspace() else _WORDS.findall(text)


def _sliced(text: str, size: int) -> list[str]:
    """So many characters each, and those that belong to the last one: marks, and what joiners join."""
    ends = [0]
    while ends[-1] < len(text):
        end = min(ends[-1] + size, len(text))
        most = end + size
        while end < min(len(text), most) and (_follows(text[end]) or text[end - 1] == "\u200d"):
            end += 1
        ends.append(end)
    return [text[a:b] for a, b in pairwise(ends)]


def _follows(sign: str) -> bool:
    return sign in _JOINERS or unicodedata.category(sign).startswith("M")
