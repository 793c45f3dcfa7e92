"""Does a context carry the evidence? Claims are checked against the words that really stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from bench.system import Packed

__all__ = ["carried", "stands_in", "words_of"]

_WORD = re.compile(r"\w+")
_SHARE = 0.8


def carried(packed: Packed, gold: Iterable[str]) -> float:
    """The share of gold turns of which at least one claimed piece stands in the text."""
    wanted = set(gold)
    words = words_of(packed.text)
    joined = f" {' '.join(words)} "
    found = {
        piece.turn for piece in packed.claims if piece.turn in wanted and stands_in(words_of(piece.text), words, joined)
    }
    return len(found) / len(wanted)


def stands_in(piece: list[str], words: list[str], joined: str) -> bool:
    """Whether at least 80 % of the piece's words stand together among these words, in order."""
    if f" {' '.join(piece)} " in joined:
        return True
    longest = SequenceMatcher(None, piece, words, autojunk=False).find_longest_match()
    start = max(0, longest.b - longest.a)
    near = SequenceMatcher(None, piece, words[start : start + len(piece)], autojunk=False)
    return sum(block.size for block in near.get_matching_blocks()) >= _SHARE * len(piece)


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
