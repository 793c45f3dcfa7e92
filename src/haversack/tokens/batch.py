"""A counter over any function that counts a batch of texts; the adapters beside this file supply the functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from haversack.errors import InputError
from haversack.model.text import clean
from haversack.tokens.counter import CountKind
from haversack.tokens.cut import segments, whole_sign

__all__ = ["BatchCounter", "CountBatch", "Cut"]

CountBatch: TypeAlias = Callable[[list[str]], list[int]]
"""Counts each text; may raise UnicodeEncodeError or TypeError for what is no valid text."""

Cut: TypeAlias = Callable[[str, int], str]
"""A prefix of about so many tokens, in one pass over a clean text."""

_USUAL_LENGTH = 4
"""Characters of a token, roughly: where the search for a cut begins."""

_UNUSUAL_LENGTH = 32
"""Characters of a token beyond which a text is not counted whole just to see whether it fits."""

_LONG_WORD = 24
"""Characters that the search for a cut looks ahead, in pieces short enough to be counted so often."""
_SHORT_PIECE = 1 << 16


class BatchCounter:
    """Counts by `count`; additive under the framing rule, and safe in threads when `count` is."""

    def __init__(
        self,
        encoding: str,
        kind: CountKind,
        count: CountBatch,
        *,
        longest_token: int | None = None,
        cut: Cut | None = None,
    ) -> None:
        self.encoding = encoding
        self.kind = kind
        self.additive = True
        self._count = count
        self._longest = longest_token
        self._cut = cut

    def __repr__(self) -> str:
        return f"<counter {self.encoding}, {self.kind}>"

    def count(self, text: str) -> int:
        """Tokens of the text."""
        return self.count_many((text,))[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in one batch. Raises InputError for what is no string."""
        if isinstance(texts, str):
            msg = "count_many takes a sequence of texts; for one text call count"
            raise InputError(msg)
        try:
            return self._count(list(texts))
        except (UnicodeEncodeError, TypeError, AttributeError):
            return self._count([clean(text) for text in texts])

    def fits(self, text: str, budget: int) -> bool:
        """Whether count(text) <= budget. A text far too long is refused by its length alone."""
        if budget < 0:
            return False
        if self._longest is not None and len(text) > budget * self._longest:
            return False
        return self.count(text) <= budget

    def truncate(self, text: str, budget: int) -> str:
        """The longest prefix that the search finds; counted afresh it has at most `budget` tokens.

        It ends inside no character, emoji sequence or letter with its marks. Budgets of 0 and less give "".
        """
        if budget <= 0:
            return ""
        if len(text) <= budget * _UNUSUAL_LENGTH and self.fits(text, budget):
            return text
        place = whole_sign(text, self._end(text, budget))
        while not self.fits(text[:place], budget):  # a word cut short can cost more than the whole word
            place = whole_sign(text, place - 1)
        return text[:place]

    def _end(self, text: str, budget: int) -> int:
        """Where the budget ends: whole framed pieces first, whose counts add up, then inside the next."""
        place = 0
        pieces = segments(text[: self._too_much(text, budget)])
        for piece, count in zip(pieces, self.count_many(pieces), strict=True):
            if count > budget:
                return place + self._end_within(piece, budget)
            place, budget = place + len(piece), budget - count
        return place

    def _too_much(self, text: str, budget: int) -> int:
        """A length that does not fit, found by doubling, so that a long text is never counted whole."""
        length = budget * _USUAL_LENGTH
        while length < len(text) and self.fits(text[:length], budget):
            length *= 2
        return length

    def _end_within(self, piece: str, budget: int) -> int:
        if self._cut is not None:
            return len(self._cut(clean(piece), budget))
        fitting, over = 0, len(piece)
        while over - fitting > 1:
            middle = (fitting + over) // 2
            fitting, over = (middle, over) if self.fits(piece[:middle], budget) else (fitting, middle)
        # The next word may cost less whole than in part: "hello worl" is 3 tokens and "hello world" 2.
        farther = range(over + 1, min(over + _LONG_WORD, len(piece), _SHORT_PIECE))
        counts = self.count_many([piece[:place] for place in farther])
        return max((place for place, count in zip(farther, counts, strict=True) if count <= budget), default=fitting)
