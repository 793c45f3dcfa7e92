"""Long texts into chunks at paragraph and sentence ends, never inside a code fence. Pure: the counter is passed in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

__all__ = ["chunk"]

Count = Callable[[Sequence[str]], Sequence[int]]

_FENCE = re.compile(r"^(?P<mark>```+|~~~+)[^\n]*\n.*?^(?P=mark)[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"(?<=\n)")
_SENTENCE = re.compile(r"(?<=[.!?…])(?=\s)|(?<=[。！？])")
_WORDS = re.compile(r"\s*\S{1,200}(?:\s+\S{1,200}){0,39}\s*")


def chunk(text: str, count_many: Count, *, target: int = 200, tolerance: float = 1.25) -> list[str]:
    """Consecutive pieces of the text, each of about `target` tokens; joined they are the text again.

    A text of up to `target · tolerance` tokens stays whole. Only a code fence can make a chunk longer than that.
    """
    limit = int(target * tolerance)
    if len(text.encode("utf-8", "replace")) <= limit or count_many([text])[0] <= limit:  # a token is a byte at least
        return [text]
    return list(_gather(list(_pieces(text, count_many, target)), target))


def _gather(pieces: Sequence[tuple[str, int]], target: int) -> Iterator[str]:
    held, size = "", 0
    for piece, tokens in pieces:
        if held and size + tokens > target:
            yield held
            held, size = "", 0
        held, size = held + piece, size + tokens
    if held:
        yield held


def _pieces(text: str, count_many: Count, target: int) -> Iterator[tuple[str, int]]:
    """Pieces and their tokens: fences and paragraphs whole, and what is longer in lines, sentences, words."""
    start = 0
    for fence in _FENCE.finditer(text):
        yield from _divide(text[start : fence.start()], count_many, target, 0)
        yield fence.group(), count_many([fence.group()])[0]
        start = fence.end()
    yield from _divide(text[start:], count_many, target, 0)


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
        case _:
            return _in_words(text)


_LEVELS = 4


def _in_words(text: str) -> list[str]:
    parts = _WORDS.findall(text)
    return parts if sum(map(len, parts)) == len(text) else [text[i : i + 400] for i in range(0, len(text), 400)]
