"""A counter of words: for tests whose figures shall be checked by eye."""

from __future__ import annotations

from collections.abc import Sequence

from haversack.tokens.counter import CountKind

__all__ = ["WordCounter"]


class WordCounter:
    """One word is one token."""

    encoding = "words"
    kind = CountKind.EXACT
    additive = True

    def count(self, text: str) -> int:
        """Words of the text."""
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Words of each text."""
        return [len(text.split()) for text in texts]

    def fits(self, text: str, budget: int) -> bool:
        """Whether it has at most `budget` words."""
        return self.count(text) <= budget

    def truncate(self, text: str, budget: int) -> str:
        """Its first `budget` words."""
        end = 0
        for _ in range(budget):
            while end < len(text) and text[end].isspace():
                end += 1
            while end < len(text) and not text[end].isspace():
                end += 1
        return text[:end]
