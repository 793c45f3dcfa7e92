"""Token counts by a library that Haversack does not count with: the referee of every budget."""

from __future__ import annotations

from functools import cache

import splintr

__all__ = ["ENCODING", "recount", "token_ids"]

ENCODING = "cl100k_base"


@cache
def _tokenizer(encoding: str) -> splintr.AnyTokenizer:
    return splintr.Tokenizer.from_pretrained(encoding)


def token_ids(text: str, encoding: str = ENCODING) -> list[int]:
    return _tokenizer(encoding).encode_ordinary(text)


def recount(text: str, encoding: str = ENCODING) -> int:
    """Tokens of the text as ordinary text."""
    return len(token_ids(text, encoding))
