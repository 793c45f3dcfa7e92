"""Synthetic memories for speed: sentences with a natural spread of word frequencies, the same on every run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

__all__ = ["NOW", "questions", "times", "turns"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS = 20_000
_SYLLABLES = (
    "ba",
    "con",
    "de",
    "fi",
    "gar",
    "hu",
    "in",
    "jo",
    "kel",
    "lo",
    "mi",
    "nor",
    "o",
    "pe",
    "ris",
    "sta",
    "tu",
    "ver",
)
_TALK = (
    "the",
    "i",
    "to",
    "and",
    "a",
    "you",
    "of",
    "it",
    "my",
    "that",
    "was",
    "for",
    "we",
    "so",
    "is",
    "in",
    "on",
    "with",
)


def turns(count: int, *, words: int = 24, seed: int = 1) -> list[str]:
    """So many texts of about so many words (some 35 tokens)."""
    return [f"{text}." for text in _texts(count, words, seed)]


def questions(count: int) -> list[str]:
    """Questions in the same vocabulary."""
    return [f"What about {text}?" for text in _texts(count, 6, 2)]


def times(count: int) -> Iterator[datetime]:
    """One for each turn, a minute apart, the last one shortly before NOW."""
    return (NOW - timedelta(minutes=count - i) for i in range(count))


def _texts(count: int, words: int, seed: int) -> Iterator[str]:
    chance = np.random.default_rng(seed)
    vocabulary = np.array([_word(i) for i in range(_WORDS)])
    lengths = chance.integers(words // 2, words * 3 // 2, count)
    picks = chance.zipf(1.3, int(lengths.sum())) % _WORDS
    start = 0
    for length in lengths:
        yield " ".join(vocabulary[picks[start : start + length]])
        start += int(length)


def _word(rank: int) -> str:
    """Common ranks are English function words, the others made of syllables."""
    if rank < len(_TALK):
        return _TALK[rank]
    word, rest = "", rank
    while rest:
        rest, place = divmod(rest, len(_SYLLABLES))
        word += _SYLLABLES[place]
    return word
