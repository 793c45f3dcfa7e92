"""Upper bounds that stand in for tokenizers nobody published, or that are not installed."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise

from haversack.model.text import clean
from haversack.tokens.batch import BatchCounter
from haversack.tokens.counter import CountKind
from haversack.tokens.cut import blocks, segments
from haversack.tokens.exact import built_in_function

__all__ = ["ESTIMATES", "Bound", "estimate_counter"]


class Bound(StrEnum):
    """How sure an estimate is to be no less than the true count."""

    LIKELY = "likely"
    """1.71 times cl100k's count, at least o200k's: held for 99.9 % of contexts of every family that was measured."""
    CERTAIN = "certain"
    """The length in UTF-8 bytes: a byte-level token is one byte or more."""


ESTIMATES = {"estimate": Bound.LIKELY, "utf8_bytes": Bound.CERTAIN}
"""Estimates by the name under which prices are stored."""

_NAMES = {bound: name for name, bound in ESTIMATES.items()}
_PERCENT = 171
_LONGEST_TOKEN = 128
_BLOCK = 1 << 20


def estimate_counter(bound: Bound) -> BatchCounter:
    """The estimate of that sureness. Both are additive under the framing rule.

    The likely one is rounded up and clipped to the byte length per framed piece and then summed: rounding or clipping
    the whole would let a whole cost more than its parts.
    """
    match bound:
        case Bound.LIKELY:
            return BatchCounter(_NAMES[bound], CountKind.ESTIMATE, _likely, longest_token=_LONGEST_TOKEN)
        case Bound.CERTAIN:
            return BatchCounter(_NAMES[bound], CountKind.ESTIMATE, _certain, longest_token=1)


def _likely(texts: list[str]) -> list[int]:
    if any(len(text) > _BLOCK for text in texts):
        return [sum(sum(_likely_small([block])) for block in blocks(clean(text), _BLOCK)) for text in texts]
    return _likely_small(texts)


_older = built_in_function("cl100k_base")
_newer = built_in_function("o200k_base")


def _likely_small(texts: list[str]) -> list[int]:
    pieces: list[str] = []
    bounds = [0]
    for text in texts:
        pieces += segments(text)
        bounds.append(len(pieces))
    prices = [
        min(max(-(-older * _PERCENT // 100), newer), _bytes(piece))
        for older, newer, piece in zip(_older(pieces), _newer(pieces), pieces, strict=True)
    ]
    return [sum(prices[start:end]) for start, end in pairwise(bounds)]


def _certain(texts: list[str]) -> list[int]:
    return [_bytes(text) for text in texts]


def _bytes(text: str) -> int:
    return len(text.encode())
