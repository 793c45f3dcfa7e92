"""The shorter forms of items as they would be written, priced, and valued for what they show of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haversack.assemble.candidate import Candidate
from haversack.assemble.frame import Frame
from haversack.assemble.relevance import topic_words
from haversack.assemble.rendition import query_words, shorter_forms
from haversack.assemble.verdict import Rendition
from haversack.tokens.counter import Counter

__all__ = ["Forms", "Shortener"]


@dataclass(frozen=True, slots=True)
class Forms:
    """The shorter forms of one item, from long to short."""

    renditions: list[Rendition]
    texts: list[str]
    prices: list[int]
    shown: list[float]
    """How much each shows of what the whole has of the question: over 0, at most 1."""

    def share(self, most: int) -> float:
        """Return what the largest form of at most so many tokens shows; 0 when none is so small."""
        return next((shown for price, shown in zip(self.prices, self.shown, strict=True) if price <= most), 0.0)


class Shortener:
    """Makes the shorter forms of each candidate once, when they are asked for."""

    def __init__(self, candidates: Sequence[Candidate], frame: Frame, counter: Counter, query: str) -> None:
        self._candidates = candidates
        self._frame = frame
        self._counter = counter
        self._query = query
        self._wanted: frozenset[str] | None = None
        self._forms: dict[int, Forms] = {}

    def forms(self, item: int) -> Forms:
        """Return the forms of an item that show something of the question, or all where the whole has nothing of it."""
        if item not in self._forms:
            self._forms[item] = self._made(item)
        return self._forms[item]

    def _made(self, item: int) -> Forms:
        if self._wanted is None:
            self._wanted = topic_words(self._query) or query_words(self._query)
        memory = self._candidates[item].memory
        whole = self._wanted & query_words(memory.content)
        valued = [
            (form, len(whole & query_words(form.words)) / len(whole) if whole else 1.0)
            for form in shorter_forms(memory.content, memory.id, self._wanted)
        ]
        valued = [(form, shown) for form, shown in valued if shown]
        texts = [self._frame.item(memory, form.words) for form, _ in valued]
        return Forms(
            renditions=[form.rendition for form, _ in valued],
            texts=texts,
            prices=self._counter.count_many(texts) if texts else [],
            shown=[shown for _, shown in valued],
        )
