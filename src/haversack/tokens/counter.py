"""The counter protocol: what every tokenizer adapter answers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

__all__ = ["FIRST", "CountKind", "Counter", "warm"]

FIRST = 32_768
"""So many characters of a process an adapter may count in a way that starts at once, before it loads a faster one."""


class CountKind(StrEnum):
    """How far a count can be trusted."""

    EXACT = "exact"
    """The model's own vocabulary counted it."""
    RECONSTRUCTED = "reconstructed"
    """A reconstruction of an unpublished tokenizer counted it."""
    ESTIMATE = "estimate"
    """An upper bound stands in for an unknown tokenizer."""


class Counter(Protocol):
    """Counts ordinary text under one encoding. Special-token literals are plain characters; nothing crashes it."""

    encoding: str
    """The stable name under which prices are stored: the same name always gives the same counts."""
    kind: CountKind
    additive: bool
    """Whether count(a + b) = count(a) + count(b) when a ends in a newline and b begins with no white space nor `/`."""

    def count(self, text: str) -> int:
        """Tokens of the text."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, in one batch."""
        ...

    def fits(self, text: str, budget: int) -> bool:
        """Whether count(text) <= budget, without counting more than is needed to know."""
        ...

    def truncate(self, text: str, budget: int) -> str:
        """The longest prefix found, never splitting a character, that counts at most `budget`; "" for 0."""
        ...


def warm(counter: Counter) -> None:
    """Have a counter load what it counts with once the first texts are behind it."""
    counter.count("warm " * FIRST)
