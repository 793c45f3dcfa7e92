"""Words into word pieces: the longest known piece first, as in BERT's uncased vocabulary. Punctuation is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from haversack.cached import emptied_with_caches
from haversack.model.text import normalized

__all__ = ["PieceTokenizer"]

_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile("[\u0300-\u036f]")
_LONGEST_WORD = 100
_CACHE_LIMIT = 200_000


class PieceTokenizer:
    """Remembers the pieces of every word it has seen, up to a bound. Safe for threads."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._rows = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._known: dict[str, tuple[int, ...]] = {}
        emptied_with_caches(self._forget)

    def _forget(self) -> None:
        self._known = {}

    def pieces(self, text: str) -> list[int]:
        """Rows of the vocabulary, in order; a word that cannot be spelt with it gives none."""
        folded = text.lower()
        if not folded.isascii():
            folded = _MARKS.sub("", normalized("NFKD", folded))
        words, known = _WORD.findall(folded), self._known
        try:
            return [piece for word in words for piece in known[word]]
        except KeyError:
            return [piece for word in words for piece in self._learn(word)]

    def _learn(self, word: str) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            if len(self._known) >= _CACHE_LIMIT:
                self._known = {}
            found = self._known[word] = self._spell(word)
        return found

    def _spell(self, word: str) -> tuple[int, ...]:
        pieces, start = list[int](), 0
        if len(word) > _LONGEST_WORD:
            return ()
        while start < len(word):
            for end in range(len(word), start, -1):
                row = self._rows.get(word[start:end] if start == 0 else f"##{word[start:end]}")
                if row is not None:
                    break
            else:
                return ()
            pieces.append(row)
            start = end
        return tuple(pieces)
